import CFrameLayout
import Platform
import Synchronization

/// The publisher's side of attaching: sends the subscriber its page, a seat, and the memory to
/// read.
extension StreamServer {
  /// Answers a hello with the memory that the subscriber writes. The subscriber must map it before
  /// it gets a seat; then it is sealed.
  /// - Returns: false if the connection was refused.
  func offerMemory(_ connection: Connection, _ hello: fb_hello) -> Bool {
    let options = core.options
    guard (1...UInt32(FB_MAXIMUM_HOLDS)).contains(hello.holds),
      hello.wait <= UInt32(FB_WAIT_EVENT_DESCRIPTOR)
    else {
      refuse(connection.socket, Int(FB_REFUSED_MALFORMED), value: UInt32(FB_MAXIMUM_HOLDS))
      return false
    }
    guard hello.keep_latest <= UInt64(options.ringDepth) else {
      refuse(connection.socket, Int(FB_REFUSED_RING_DEPTH), value: UInt32(options.ringDepth))
      return false
    }
    guard hello.is_lossless == 0 || options.allowsLossless else {
      refuse(connection.socket, Int(FB_REFUSED_LOSSLESS), value: 0)
      return false
    }
    do throws(SystemError) {
      let request = try SubscriberRequest(hello)
      let message = fb_short_message(Int(FB_MESSAGE_PAGE))
      guard connection.socket.send(message, descriptors: request.descriptors) == .sent else {
        throw SystemError.last("sendmsg")
      }
      crashPoint(.pageSent)
      connection.request = request
      return true
    } catch {
      refuse(connection.socket, Int(FB_REFUSED_RESOURCES), value: UInt32(error.code))
      return false
    }
  }

  /// Gives a subscriber a seat, at once or when there is a large enough pool.
  /// - Returns: false if the connection was refused.
  func admit(_ connection: Connection, _ request: SubscriberRequest) -> Bool {
    let tenants = connections.values.filter { $0.seat != nil }.map {
      Quota.Tenant(uid: $0.peer.uid, holds: $0.holds)
    }
    let uid = connection.peer.uid
    let quota = Quota(core.options, slotBytes: core.pools.newest.slotBytes)
    let holds: Int
    switch quota.answer(
      asked: Int(request.hello.holds), uid: uid, isOwner: uid == currentUserID(), besides: tenants)
    {
    case .granted(let granted): holds = granted
    case .full:
      refuse(connection.socket, Int(FB_REFUSED_FULL), value: UInt32(quota.seats))
      return false
    case .busy(let taken):
      refuse(connection.socket, Int(FB_REFUSED_BUSY), value: UInt32(taken))
      return false
    }
    guard core.pools.grant(holds) else {
      return waitForPool(connection)
    }
    connection.holds = holds
    do throws(SystemError) {
      try welcome(connection, request, at: (~core.seats.takenMask).trailingZeroBitCount)
      return true
    } catch {
      if connection.seat == nil {
        core.pools.takeBack(holds)
        removeMarkIfUnseen()
      }
      refuse(connection.socket, Int(FB_REFUSED_RESOURCES), value: UInt32(error.code))
      return false
    }
  }

  /// Has a pool made for more holds, on a thread of its own: who writes into it besides, as an X
  /// server, may take long to attach.
  private func waitForPool(_ connection: Connection) -> Bool {
    waitingForPool.append(connection)
    guard waitingForPool.count == 1 else { return true }
    do throws(SystemError) {
      try startThread(named: "framebus-pool") { [core, loop, weak self] in
        let result = Result { () throws(PublisherError) in try core.grow() }
        loop.enqueue { [weak self] in self?.continueArrival(with: result) }
      }
      return true
    } catch {
      waitingForPool = []
      refuse(connection.socket, Int(FB_REFUSED_RESOURCES), value: UInt32(error.code))
      return false
    }
  }

  /// Continues with the connections that waited for a pool.
  private func continueArrival(with result: Result<Void, PublisherError>) {
    let waiting = waitingForPool
    waitingForPool = []
    for connection in waiting {
      guard connections[connection.id] === connection, let request = connection.request else {
        continue
      }
      if case .failure = result {
        // There are as many as there is room for.
        refuse(
          connection.socket, Int(FB_REFUSED_FULL), value: UInt32(core.seats.takenCount))
        drop(connection)
      } else if !admit(connection, request) {
        drop(connection)
      }
    }
  }

  private func stallLimitNs(_ hello: fb_hello) -> UInt64? {
    guard hello.is_lossless != 0 else { return nil }
    return min(hello.lossless_deadline_ns, core.options.losslessStallLimit.clampedNanoseconds)
  }

  /// Offers a seat, and sends the memory that the subscriber reads.
  private func welcome(
    _ connection: Connection, _ request: SubscriberRequest, at seat: Int
  ) throws(SystemError) {
    try core.waker.start(keeping: core)
    // Before the subscriber receives any memory.
    try capturedMark?.set()
    let bell = try BellPair()
    connection.bell = bell.ringing
    let losslessStallLimitNs = stallLimitNs(request.hello)
    let isLossless = losslessStallLimitNs != nil
    // SYNC cursor/publish: acquire.
    let before = core.board.cursor.loadAcquiring()
    var contents = fb_page()
    // A lossless subscriber has yet to say where it begins. Until it does it counts as one that
    // wants all that is there, so that nothing it may begin with is overwritten meanwhile.
    let standing = isLossless ? UInt64(core.options.ringDepth) : 0
    contents.position = before - min(before, standing)
    // SAFETY: the span does not outlive the bytes.
    try unsafe withUnsafeBytes(of: contents) { bytes throws(SystemError) in
      try request.page.initialize(from: unsafe RawSpan(_unsafeBytes: bytes))
    }
    try request.seal()
    crashPoint(.positionPreset)
    // Before the publishing thread can write there that lossless delivery has ended. Relaxed:
    // ordered by the taking of the seat.
    core.board.seat(seat).storeRelaxed(
      UInt32(isLossless ? FB_SEAT_LOSSLESS : FB_SEAT_TAKEN))
    crashPoint(.seatShown)
    // Listed before the descriptors are sent, so that no hold is missed.
    try core.seats.take(
      seat, page: request.page, holds: connection.holds,
      losslessStallLimitNs: losslessStallLimitNs)
    connection.seat = seat
    crashPoint(.seatListed)
    core.waker.bells.set(socket: bell.ringing.number, request.semaphore, at: seat)

    guard let pool = pools.first else { return }
    var welcome = fb_welcome()
    welcome.header = fb_message_header(Int(FB_MESSAGE_WELCOME))
    welcome.seat = UInt32(seat)
    welcome.holds = UInt32(connection.holds)
    // SYNC arrival/cursor: Dekker. Our mask of lossless seats, fence, our load of the cursor; the
    // publishing thread's store of the cursor, its fence in `PublisherCore.wakeSleepers`, its load
    // of the mask. So from here on a lossless subscriber misses nothing but what an older loan
    // overwrites.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // SYNC cursor/publish: acquire.
    welcome.cursor = core.board.cursor.loadAcquiring()
    welcome.generation = core.board.header().generation
    welcome.ring_depth = UInt32(core.options.ringDepth)
    welcome.pool = pool.description
    let descriptors = [
      core.boardFile.descriptor.number, pool.file.descriptor.number, bell.hearing.number,
    ]
    guard connection.socket.send(welcome, descriptors: descriptors) == .sent else {
      throw SystemError.last("sendmsg")
    }
    crashPoint(.welcomeSent)
    // What is in the ring lies in any of them.
    connection.owedPools = Array(pools.dropFirst())
    connection.owesAnnotation = connection.wantsAnnotation && annotation.application != nil
    flush(connection)
    // A peer that hangs up is noticed; one that is stopped or never answers needs this timeout.
    loop.schedule(at: .after(Self.peerTimeout)) { [weak self, weak connection] in
      guard let self, let connection, !connection.isSeated else { return }
      drop(connection)
    }
  }

  /// Handles the answer to a welcome: the subscriber has mapped its memory.
  /// - Returns: false if nothing was offered, or the answer came before.
  func confirm(_ connection: Connection) -> Bool {
    guard let seat = connection.seat, !connection.isSeated else { return false }
    connection.isSeated = true
    core.seats.confirm(seat)
    crashPoint(.seatConfirmed)
    joins.wrappingAdd(1, ordering: .releasing)
    noteChange()
    return true
  }
}
