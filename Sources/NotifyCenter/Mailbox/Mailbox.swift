import AppGroup
import Platform

// Mailboxes carry payloads from many senders to one owner. Each letter arrives once and in order,
// and is acknowledged.
//
// They refuse to be a queue on disk: unacknowledged letters stay with the sender, which learns of
// it. Protocol and failures: docs/design/mailbox.md.

/// The receiving end of a mailbox: receives the letters that members of the group send to its name.
/// A mailbox has one owner at a time.
///
/// ```swift
/// var mailbox = try Mailbox(MailboxName("commands"), in: group, as: .extension)
/// while let letter = try mailbox.receive() {
///   if work(on: letter.payload) { letter.acknowledge() }  // else it is returned to its sender
/// }
/// ```
///
/// Letters wait in the kernel, in order for each sender, at most ``maximumUnsettledCount`` of each.
/// Senders are served in turn, so one that floods fills only its own socket.
public struct Mailbox: ~Copyable, Sendable {
  /// Maximum bytes of a payload.
  public static let maximumLetterBytes = 65536
  /// Limits of a sender's letters that are on their way or being processed: number, payload bytes.
  public static let maximumUnsettledCount = 64
  /// The most bytes of letters that a sender may have unanswered.
  public static let maximumUnsettledBytes = 131_072
  /// Limits of senders connected to a mailbox: in all, and of one user.
  public static let maximumSenderCount = 256
  /// The most senders of one user.
  public static let maximumSenderCountOfUser = 64

  /// The name of the mailbox.
  public let name: MailboxName
  private let group: AppGroup
  private let listener: EndpointListener
  /// Readable while a sender waits to connect, or has sent a packet.
  private let ready: ReadySet
  private var correspondents: [UInt64: Correspondent] = [:]
  private var lastTag = listenTimerTag
  /// Tags that the kernel reported ready, served before the kernel is asked again.
  private var readyTags: [UInt64] = []
  private var inbox: MailboxInbox
  /// Fires when to listen again, after there was no descriptor left for a sender.
  private let listenTimer: TimerDescriptor

  private static let listenerTag: UInt64 = 0
  private static let listenTimerTag: UInt64 = 1
  private static let listenRetryInterval: Duration = .milliseconds(100)

  /// Becomes the owner. Senders keep letters that a previous owner did not acknowledge, and can
  /// send them again.
  /// - Parameter role: must be allowed to observe notifications of this name.
  /// - Throws: ``MailboxError/taken(_:)`` while there is another owner.
  public init(_ name: MailboxName, in group: AppGroup, as role: Role) throws(MailboxError) {
    try group.require(.observe, as: role, mailbox: name)
    let listener = try Self.listen(for: name, in: group)
    do throws(SystemError) {
      let ready = try ReadySet()
      let listenTimer = try TimerDescriptor()
      try ready.add(listener.number, tag: Self.listenerTag)
      try ready.add(listenTimer.number, tag: Self.listenTimerTag)
      self.name = name
      self.group = group
      self.listener = listener
      self.ready = ready
      self.listenTimer = listenTimer
      inbox = MailboxInbox()
    } catch { throw .system(error) }
  }

  private static func listen(
    for name: MailboxName, in group: AppGroup
  ) throws(MailboxError) -> EndpointListener {
    do throws(Endpoint.ListenError) {
      return try group.endpoint(of: name).listen()
    } catch {
      switch error {
      case .taken: throw .taken(name)
      case .inTheWay(let found): throw .inTheWay(path: found.path, ownerID: found.ownerID)
      case .failed(let error) where error.isAccessRefusal:
        throw .notAllowed(path: group.mailboxesPath)
      case .failed(let error): throw .system(error)
      }
    }
  }

  /// Waits for a letter, blocking the thread.
  /// - Returns: nil if the deadline passed, or `stop` was raised.
  public mutating func receive(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(MailboxError) -> Letter? {
    while true {
      if let letter = try receiveNow() { return letter }
      if stop?.isRaised == true || deadline.isPast { return nil }
      _ = poll(ready.number, stop?.descriptorNumber, until: deadline)
    }
  }

  /// Readable when ``receiveNow()`` may return a letter; for event loops.
  public var eventDescriptor: Int32 { ready.number }

  /// Takes a letter if one is available. Never blocks.
  public mutating func receiveNow() throws(MailboxError) -> Letter? {
    if readyTags.isEmpty { ready.wait(until: .now) { readyTags.append($0) } }
    while let tag = readyTags.popLast() {
      if tag == Self.listenerTag {
        acceptAll()
      } else if tag == Self.listenTimerTag {
        resumeListening()
      } else if let letter = try receive(from: tag) {
        return letter
      }
    }
    return nil
  }

  /// Takes one packet from a sender.
  private mutating func receive(from tag: UInt64) throws(MailboxError) -> Letter? {
    guard let correspondent = correspondents[tag] else { return nil }
    switch inbox.take(from: correspondent.socket.messages) {
    case .nothing: return nil
    case .packet(let packet, let payload):
      if let letter = Letter(packet, payload, from: correspondent) { return letter }
      fallthrough
    case .end, .malformed:
      ready.remove(correspondent.socket.number)
      correspondents[tag] = nil
      return nil
    }
  }

  // MARK: Connections

  /// Accepts waiting senders. Bounded, so that senders that connect repeatedly cannot starve
  /// others.
  private mutating func acceptAll() {
    for _ in 0..<16 {
      let accepted: MessageSocket?
      do throws(SystemError) { accepted = try listener.accept() } catch {
        if error.isOutOfDescriptors { pauseListening() }
        return
      }
      guard let accepted, let peer = try? accepted.peer() else { return }
      let socket = SharedSocket(accepted)
      if let reason = reasonToTurnAway(peer) {
        _ = MailboxPacket(.turnedAway, sender: 0, sequence: reason.rawValue)
          .send(over: socket.messages)
        continue
      }
      lastTag += 1
      guard (try? ready.add(socket.number, tag: lastTag)) != nil else { continue }
      correspondents[lastTag] = Correspondent(socket, peer)
    }
  }

  /// Stops listening for a while, because without a free descriptor the kernel would report the
  /// waiting senders continuously.
  private func pauseListening() {
    ready.remove(listener.number)
    listenTimer.set(.after(Self.listenRetryInterval))
  }

  private func resumeListening() {
    listenTimer.set(.never)
    do throws(SystemError) {
      try ready.add(listener.number, tag: Self.listenerTag)
    } catch {
      listenTimer.set(.after(Self.listenRetryInterval))
    }
  }

  private func reasonToTurnAway(_ peer: PeerCredentials) -> MailboxTurnAway? {
    guard group.permits(.post, peer, mailbox: name) else { return .role }
    let ofUser = correspondents.values.count { $0.peer.uid == peer.uid }
    let isCrowded =
      correspondents.count >= Self.maximumSenderCount || ofUser >= Self.maximumSenderCountOfUser
    return isCrowded ? .crowd : nil
  }
}
