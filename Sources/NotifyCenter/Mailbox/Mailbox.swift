import AppGroup
import Platform

// Mailboxes: for those who need more than a notification says, payloads that arrive each once, in
// order, and are acknowledged.
//
// They refuse to be a queue on disk: what nobody acknowledged is the sender's, who is told.
// Protocol and failures: docs/design/mailbox.md.

/// The owning end of a mailbox: receives the letters that members of the group send to its name.
/// There is one owner at a time.
///
/// ```swift
/// var mailbox = try Mailbox(MailboxName("commands"), in: group, as: .extension)
/// while let letter = try mailbox.receive() {
///   if work(on: letter.payload) { letter.acknowledge() }  // else it goes back to its sender
/// }
/// ```
///
/// Letters wait in the kernel, each sender's in order, at most ``maximumUnsettledCount`` of each. A
/// sender that floods fills its own socket: turns go round.
public struct Mailbox: ~Copyable, Sendable {
  /// The largest payload.
  public static let maximumLetterBytes = 65536
  /// How many letters of a sender may be on their way or in work, and how many bytes of payload.
  public static let maximumUnsettledCount = 64
  public static let maximumUnsettledBytes = 131_072
  /// How many senders a mailbox takes, and how many of one user.
  public static let maximumSenderCount = 256
  public static let maximumSenderCountOfUser = 64

  public let name: MailboxName
  private let group: AppGroup
  private let directory: Directory
  private let lock: FileLock
  private let listener: ListeningSocket
  /// Readable while a sender has come, or one has said something.
  private let ready: ReadySet
  private var correspondents: [UInt64: Correspondent] = [:]
  private var lastTag = restTag
  /// Who may have something to say: asked in turn, before the kernel is asked again.
  private var turns: [UInt64] = []
  private var inbox = MailboxInbox()
  /// Tells when to listen again, after there was no descriptor for a sender.
  private let rest: TimerDescriptor

  private static let listenerTag: UInt64 = 0
  private static let restTag: UInt64 = 1
  private static let restInterval: Duration = .milliseconds(100)

  /// Becomes the owner. What was sent to an owner before and not acknowledged is its sender's to
  /// send again.
  /// - Parameter role: whose right to observe names like this one is asked for.
  /// - Throws: ``MailboxError/taken(_:)`` while there is another owner.
  public init(_ name: MailboxName, in group: AppGroup, as role: Role) throws(MailboxError) {
    try group.require(.observe, as: role, mailbox: name)
    let directory: Directory
    do { directory = try Directory(path: group.mailboxesPath) } catch { throw .system(error) }
    do throws(SystemError) {
      let lock = try FileLock.take(
        name.lockName, in: directory, ownerID: currentUserID(), until: .now)
      guard let lock else { throw Self.isTaken }
      // Anybody may connect; the kernel says who did, and the group's manifest decides.
      let listener: ListeningSocket
      do throws(SystemError) {
        listener = try ListeningSocket(
          at: directory.reachablePath(of: name.socketName), mode: 0o666)
      } catch {
        // Or it would keep the next owner out, who may be another user.
        try? directory.removeFile(name.lockName)
        throw error
      }
      let ready = try ReadySet()
      let rest = try TimerDescriptor()
      try ready.add(listener.descriptor.number, tag: Self.listenerTag)
      try ready.add(rest.number, tag: Self.restTag)
      self.name = name
      self.group = group
      self.directory = directory
      self.lock = lock
      self.listener = listener
      self.ready = ready
      self.rest = rest
    } catch {
      if error == Self.isTaken { throw .taken(name) }
      if let other = Self.whatIsInTheWay(of: name, in: directory) { throw other }
      throw error.isAccessRefusal ? .notAllowed(path: group.mailboxesPath) : .system(error)
    }
  }

  private static let isTaken = SystemError(code: 0, operation: "lock")

  /// What another user made under one of the mailbox's names: an owner's, or anybody's who may make
  /// files there.
  private static func whatIsInTheWay(
    of name: MailboxName, in directory: borrowing Directory
  ) -> MailboxError? {
    let temporary = name.socketName + ListeningSocket.temporarySuffix
    for name in [name.lockName, name.socketName, temporary] {
      guard let status = (try? directory.status(of: name)) ?? nil,
        status.ownerID != currentUserID()
      else { continue }
      return .inTheWay(path: directory.path(of: name), ownerID: status.ownerID)
    }
    return nil
  }

  /// Waits for a letter, blocking the thread.
  /// - Returns: nil when the deadline has passed, or `stop` was raised.
  public mutating func receive(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(MailboxError) -> Letter? {
    while true {
      if let letter = try receiveNow() { return letter }
      if stop?.isRaised == true || deadline.isPast { return nil }
      _ = poll(ready.number, stop?.descriptorNumber, until: deadline)
    }
  }

  /// Readable when ``receiveNow()`` may bring something: for event loops of one's own.
  public var eventDescriptor: Int32 { ready.number }

  /// Takes a letter if there is one. Never blocks.
  public mutating func receiveNow() throws(MailboxError) -> Letter? {
    if turns.isEmpty { ready.wait(until: .now) { turns.append($0) } }
    while let tag = turns.popLast() {
      if tag == Self.listenerTag {
        acceptAll()
      } else if tag == Self.restTag {
        listenAgain()
      } else if let letter = try hear(tag) {
        return letter
      }
    }
    return nil
  }

  /// Takes one packet from a sender.
  private mutating func hear(_ tag: UInt64) throws(MailboxError) -> Letter? {
    guard let correspondent = correspondents[tag] else { return nil }
    switch inbox.take(from: correspondent.socket.messages) {
    case .nothing: return nil
    case .packet(let packet, let payload):
      if let letter = Letter(packet, payload, from: correspondent) { return letter }
      fallthrough
    case .end, .garbage:
      ready.remove(correspondent.socket.number)
      correspondents[tag] = nil
      return nil
    }
  }

  // MARK: Coming and going

  /// Accepts who waits; bounded, so that senders that come and go leave others their turn.
  private mutating func acceptAll() {
    for _ in 0..<16 {
      let accepted: MessageSocket?
      do throws(SystemError) { accepted = try listener.accept() } catch {
        if error.isOutOfDescriptors { stopListening() }
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

  /// Leaves senders waiting for a while: without a descriptor for them, whoever listens is told of
  /// them again and again.
  private func stopListening() {
    ready.remove(listener.descriptor.number)
    rest.set(.after(Self.restInterval))
  }

  private func listenAgain() {
    rest.set(.never)
    do throws(SystemError) {
      try ready.add(listener.descriptor.number, tag: Self.listenerTag)
    } catch {
      rest.set(.after(Self.restInterval))
    }
  }

  private func reasonToTurnAway(_ peer: PeerCredentials) -> MailboxTurnAway? {
    guard group.permits(.post, peer, mailbox: name) else { return .role }
    let ofUser = correspondents.values.count { $0.peer.uid == peer.uid }
    let isCrowded =
      correspondents.count >= Self.maximumSenderCount || ofUser >= Self.maximumSenderCountOfUser
    return isCrowded ? .crowd : nil
  }

  deinit {
    // While the lock is held, so that none of a successor's are taken away.
    try? directory.removeFile(name.socketName)
    try? directory.removeFile(name.lockName)
  }
}
