import AppGroup
import CFrameLayout
import Platform
import Synchronization

/// The publisher's control plane: accepts connections, grants seats, sends memory, notices deaths.
/// It runs on the event loop and never on the publishing thread.
///
/// Data from a peer is copied once and checked; a peer that violates the protocol is disconnected.
/// No peer can make it wait: all sockets are non-blocking, and silent peers are dropped.
final class StreamServer: @unchecked Sendable {  // because its mutable state is the loop thread's
  let core: PublisherCore
  let loop: EventLoop
  let group: AppGroup
  private let listener: EndpointListener
  let joins = Atomic<UInt64>(0)
  let annotation = StreamAnnotation()

  // Used by the loop's thread alone.
  private var listening: EventLoop.Token?
  private(set) var connections: [Int32: Connection] = [:]
  /// The pools that subscribers need for published frames, newest last.
  var pools: [Pool]
  /// The oldest generation that subscribers keep.
  var oldestPool: UInt32 = 0
  /// Set while subscribers see a screen or window; nil for other streams.
  let capturedMark: CapturedMark?
  /// Connections that wait for a larger pool.
  var waitingForPool: [Connection] = []

  /// Maximum number of connections that have not sent a hello.
  private static let maximumStrangers = 64
  /// How long a peer may take to send its next message.
  static let peerTimeout: Duration = .seconds(3)
  /// How long to wait after a failure for lack of resources.
  static let rest: Duration = .milliseconds(100)

  init(_ core: PublisherCore, in group: AppGroup) throws(PublisherError) {
    self.core = core
    self.group = group
    pools = [core.ring.pool]
    let endpoint = group.endpoint(of: core.stream)
    guard endpoint.longestPathBytes <= maximumSocketPathBytes else {
      throw .socketPathTooLong(path: endpoint.socketPath, bytes: endpoint.longestPathBytes)
    }
    do throws(Endpoint.ListenError) {
      listener = try endpoint.listen {
        crashPoint(.lockTaken)
        CapturedMark.removeLeftovers(of: core.stream, in: group)
      }
    } catch { throw PublisherError(error, core.stream, at: endpoint) }
    crashPoint(.socketBound)
    do throws(SystemError) {
      capturedMark =
        try core.options.content.isOnScreen ? CapturedMark(of: core.stream, in: group) : nil
      loop = try EventLoop.shared()
      listening = nil
      listening = try loop.add(listener.number, .readable) { [weak self] _ in self?.acceptAll() }
    } catch { throw .system(error) }
    annotation.observe { [weak self] in self?.announceAnnotation() }
  }

  deinit {
    // `end` was called, unless init threw.
    if let listening { loop.remove(listening, listener.number) }
  }

  /// Ends every connection and frees the stream's name. When this returns a successor can start,
  /// even if a running handler retains this object for a moment.
  func end() {
    loop.performAndWait { [self] in
      if let listening { loop.remove(listening, listener.number) }
      listening = nil
      // A loan may outlive the server and must not ring closed sockets.
      for connection in connections.values { drop(connection) }
      core.waker.end()
      listener.end()
    }
  }

  var joinCount: UInt64 { joins.load(ordering: .acquiring) }

  // MARK: From the publishing thread

  /// Sends a new pool to every subscriber.
  /// - Parameter keptFrom: the generation of the oldest pool that published or borrowed frames use.
  func announce(_ pool: Pool, keptFrom: UInt32) {
    loop.enqueue { [weak self] in self?.offer(pool, keptFrom: keptFrom) }
  }

  /// Ends lossless delivery to a subscriber that makes no progress, unless it has left meanwhile.
  /// Waits for the loop's thread, which alone grants seats and never blocks.
  func endLossless(_ seat: Int, of tenancy: UInt64) {
    loop.performAndWait { [core] in
      guard core.seats.endLossless(seat, of: tenancy) else { return }
      // Relaxed: ordered by the fence below.
      core.board.seat(seat).storeRelaxed(UInt32(FB_SEAT_LOSSLESS_ENDED))
      crashPoint(.losslessEndShown)
      core.board.losslessEnded.storeRelaxed(core.board.losslessEnded.loadRelaxed() &+ 1)
      crashPoint(.losslessEndCounted)
    }
    // SYNC end/gap: releasing; from the seat's word to the descriptors overwritten from now on.
    // Pairs with the acquiring fence in `Attachment.losslessHasEnded`.
    atomicMemoryFence(ordering: .releasing)
  }

  // MARK: Connections

  private func acceptAll() {
    do throws(SystemError) {
      // A bounded number at a time, so that many new connections do not delay the others.
      for _ in 0..<16 {
        guard let socket = try listener.accept() else { return }
        greet(socket)
      }
    } catch {
      // For example out of descriptors: the connection stays in the backlog, where it would wake
      // the loop repeatedly, so accepting pauses.
      restFromAccepting()
    }
  }

  private func restFromAccepting() {
    guard let listening else { return }
    loop.change(listening, listener.number, to: [])
    loop.schedule(at: .after(Self.rest)) { [weak self] in
      guard let self else { return }
      loop.change(listening, listener.number, to: .readable)
    }
  }

  private func greet(_ socket: consuming MessageSocket) {
    guard let peer = try? socket.peer() else { return }
    guard group.admits(uid: peer.uid, gid: peer.gid) else {
      return refuse(socket, Int(FB_REFUSED_NOT_MEMBER), value: peer.uid)
    }
    dropSurplusStrangers()
    let connection = Connection(
      socket, peer: peer, loop: loop, helloDeadline: .after(Self.peerTimeout))
    connections[connection.id] = connection
    let handler: EventLoop.Handler = { [weak self, weak connection] events in
      guard let self, let connection else { return }
      handle(connection, events)
    }
    guard connection.watch(handler) else { return drop(connection) }
    loop.schedule(at: connection.helloDeadline) { [weak self, weak connection] in
      guard let self, let connection, connection.seat == nil else { return }
      drop(connection)
    }
    // Reads a hello that came with the connection.
    handle(connection, .readable)
  }

  /// Drops connections without a hello beyond the maximum: the oldest one of the process with the
  /// most, of the user with the most. So a flood drops its own connections.
  private func dropSurplusStrangers() {
    let strangers = connections.values.filter { $0.seat == nil }
    guard strangers.count >= Self.maximumStrangers else { return }
    let ofUser = Self.largestGroup(of: strangers) { Int64($0.peer.uid) }
    let ofProcess = Self.largestGroup(of: ofUser) { Int64($0.peer.pid) }
    if let oldest = ofProcess.min(by: { $0.helloDeadline < $1.helloDeadline }) { drop(oldest) }
  }

  private static func largestGroup(
    of connections: [Connection], by key: (Connection) -> Int64
  ) -> [Connection] {
    let groups = Dictionary(grouping: connections, by: key)
    return groups.values.max { $0.count < $1.count } ?? []
  }

  private func handle(_ connection: Connection, _ events: EventLoop.Events) {
    // A bounded number at a time, so that one peer cannot starve the others.
    for _ in 0..<16 {
      let message: Message?
      do { message = try Message(from: connection.socket) } catch { return drop(connection) }
      guard let message else { break }
      switch answer(message, from: connection) {
      case .stays: continue
      case .leaves: return drop(connection)
      case .breaksProtocol:
        // Relaxed: one writer, a statistic.
        core.board.rejected.storeRelaxed(core.board.rejected.loadRelaxed() &+ 1)
        crashPoint(.rejectionCounted)
        return drop(connection)
      }
    }
    if events.isHangUp || connection.peerHasEnded { return drop(connection) }
    flush(connection)
  }

  /// The effect of a message on its connection.
  private enum Outcome { case stays, leaves, breaksProtocol }

  private func answer(_ message: borrowing Message, from connection: Connection) -> Outcome {
    // The end of a connection reads as an empty message, repeatedly.
    if message.isEmpty, let next = try? Message(from: connection.socket), next.isEmpty {
      return .leaves
    }
    guard !message.isTruncated, message.descriptorCount == 0, let header = message.header else {
      return .breaksProtocol
    }
    switch Int(header.kind) {
    case Int(FB_MESSAGE_HELLO):
      guard connection.request == nil else { return .breaksProtocol }
      guard header.abi_version == UInt32(FB_ABI_VERSION) else {
        refuse(connection.socket, Int(FB_REFUSED_VERSION), value: UInt32(FB_ABI_VERSION))
        return .leaves
      }
      guard let hello = message.record(fb_hello(), kind: Int(FB_MESSAGE_HELLO)) else {
        return .breaksProtocol
      }
      return offerMemory(connection, hello) ? .stays : .leaves
    case Int(FB_MESSAGE_MAPPED):
      guard let request = connection.request, !connection.hasMapped else { return .breaksProtocol }
      connection.hasMapped = true
      return admit(connection, request) ? .stays : .leaves
    case Int(FB_MESSAGE_SEATED): return confirm(connection) ? .stays : .breaksProtocol
    case Int(FB_MESSAGE_POOL_ACK):
      guard connection.unacknowledgedPools > 0 else { return .breaksProtocol }
      connection.unacknowledgedPools -= 1
      connection.acknowledgedPools += 1
      return .stays
    case Int(FB_MESSAGE_INSPECT):
      guard connection.seat == nil else { return .breaksProtocol }
      let question = message.record(fb_short_message(), kind: Int(FB_MESSAGE_INSPECT))
      if let question, question.value & UInt64(FB_EXTRA_ANNOTATION) != 0 {
        _ = connection.socket.send(fb_annotation(annotation.application))
      }
      _ = connection.socket.send(status())
      return .stays
    case Int(FB_MESSAGE_INSPECT_SUBSCRIBER):
      guard connection.seat == nil,
        let question = message.record(
          fb_short_message(), kind: Int(FB_MESSAGE_INSPECT_SUBSCRIBER))
      else { return .breaksProtocol }
      _ = connection.socket.send(details(of: question.value))
      return .stays
    case Int(FB_MESSAGE_ANNOTATE):
      guard connection.seat == nil,
        let name = message.record(fb_annotation(), kind: Int(FB_MESSAGE_ANNOTATE))?.name
      else { return .breaksProtocol }
      return annotate(name, for: connection.peer) ? .stays : .leaves
    default: return .breaksProtocol
    }
  }

  func refuse(_ socket: borrowing MessageSocket, _ reason: Int, value: UInt32) {
    var refusal = fb_refusal()
    refusal.header = fb_message_header(Int(FB_MESSAGE_REFUSED))
    refusal.reason = UInt32(reason)
    refusal.value = value
    _ = socket.send(refusal)
  }

  func drop(_ connection: Connection) {
    connections.removeValue(forKey: connection.id)
    guard let seat = connection.seat else { return }
    connection.seat = nil
    core.waker.bells.remove(seat)
    core.seats.leave(seat)
    core.pools.takeBack(connection.holds)
    crashPoint(.seatLeft)
    // Relaxed: informational.
    core.board.seat(seat).storeRelaxed(UInt32(FB_SEAT_FREE))
    crashPoint(.seatFreed)
    removeMarkIfUnseen()
    noteChange()
  }

  /// Removes the mark once no peer has the stream's memory from this publisher any more.
  func removeMarkIfUnseen() {
    if !connections.values.contains(where: { $0.seat != nil }) { capturedMark?.remove() }
  }

  /// Wakes a publisher that waits for a subscriber to attach or to make progress.
  func noteChange() {
    core.changes.increment()
    core.changes.wakeAll()
    core.subscriberObserver.withLock { $0?.raise() }
  }
}

extension PublisherError {
  /// The reason why this user cannot publish.
  fileprivate init(_ error: Endpoint.ListenError, _ stream: StreamName, at endpoint: Endpoint) {
    self =
      switch error {
      case .taken: .alreadyPublished(stream)
      case .inTheWay(let found) where found.hasWrongKind:
        .inTheWay(path: found.path, what: found.kind.rawValue)
      case .inTheWay(let found): .ofAnotherUser(stream, found.ownerID, found.path)
      case .failed(let error):
        error.isAccessRefusal ? .notAllowed(path: endpoint.directoryPath) : .system(error)
      }
  }
}
