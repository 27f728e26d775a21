import AppGroup
import Platform

/// The sending end of a mailbox. Letters arrive in the order in which they were sent, each once.
/// Letters that were not acknowledged stay with the sender.
///
/// ```swift
/// var sender = try MailboxSender(
///   to: MailboxName("commands"), in: group, as: .host, waitingForOwnerUntil: .after(.seconds(5)))
/// try sender.send(Array("pause".utf8), until: .after(.seconds(1)))
/// try sender.settle(until: .after(.seconds(1)))  // every letter is acknowledged
/// ```
public struct MailboxSender: ~Copyable, Sendable {
  /// A letter that was sent but not acknowledged.
  public struct Unsettled: Hashable, Sendable {
    /// The number of the letter, which counts from 1.
    public let sequence: UInt64
    /// Its bytes.
    public let payload: [UInt8]
    /// Whether the owner returned it. Otherwise it is on its way, being processed, or in doubt.
    public internal(set) var isReturned = false
    /// Whether it was handed to the current owner.
    var isHandedOver = false
    /// Whether it was handed to a previous owner.
    var isRepeated = false
  }

  /// The name of the mailbox.
  public let name: MailboxName
  /// Identifies this sender to the owner.
  public let id = UInt64.random(in: 1 ... .max)
  /// The unacknowledged letters, in order.
  public private(set) var unsettled: [Unsettled] = []
  private var lastSequence: UInt64 = 0
  private let search: OwnerSearch
  private var socket: MessageSocket
  private var inbox: MailboxInbox
  /// Why the connection is unusable; nil if it is usable.
  private var failure: MailboxError?

  private static let retryInterval: Duration = .milliseconds(100)

  /// Connects to the owner of a mailbox, waiting for one if necessary.
  /// - Parameters:
  ///   - role: must be allowed to post notifications of this name.
  ///   - deadline: when to stop waiting for an owner; by default there must be one.
  public init(
    to name: MailboxName, in group: AppGroup, as role: Role,
    waitingForOwnerUntil deadline: Deadline = .now, stop: StopSignal? = nil
  ) throws(MailboxError) {
    try group.require(.post, as: role, mailbox: name)
    let search = OwnerSearch(name, in: group)
    let socket = try search.run(until: deadline, stop: stop)
    self.name = name
    self.search = search
    self.socket = socket
    inbox = MailboxInbox()
  }

  /// Sends a letter. When this returns, the letter reaches the owner even if this process dies at
  /// once. Only its acknowledgement says that the owner has processed it.
  /// - Parameter deadline: when to stop waiting while ``Mailbox/maximumUnsettledCount`` letters, or
  ///   ``Mailbox/maximumUnsettledBytes``, are unsettled. A letter without room is not sent.
  /// - Returns: the letter's number, from 1.
  @discardableResult public mutating func send(
    _ payload: [UInt8], until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(MailboxError) -> UInt64 {
    guard payload.count <= Mailbox.maximumLetterBytes else {
      throw .tooLarge(byteCount: payload.count)
    }
    try wait(until: deadline, stop: stop) { $0.hasRoom(for: payload.count) }
    unsettled.append(Unsettled(sequence: lastSequence + 1, payload: payload))
    do throws(MailboxError) {
      try wait(until: deadline, stop: stop) { $0.unsettled.last?.isHandedOver != false }
    } catch {
      if unsettled.last?.isHandedOver == false { unsettled.removeLast() }
      throw error
    }
    lastSequence += 1
    return lastSequence
  }

  /// Waits until every letter is acknowledged.
  /// - Throws: ``MailboxError/returned(_:count:)`` if the owner returned some. They stay in
  ///   ``unsettled`` until they are taken.
  public mutating func settle(
    until deadline: Deadline = .never, stop: StopSignal? = nil
  ) throws(MailboxError) {
    try wait(until: deadline, stop: stop) { $0.unsettled.allSatisfy(\.isReturned) }
    if !unsettled.isEmpty { throw .returned(name, count: unsettled.count) }
  }

  /// Takes back the letters that the owner returned, which makes room.
  public mutating func takeReturned() -> [Unsettled] {
    defer { unsettled.removeAll(where: \.isReturned) }
    return unsettled.filter(\.isReturned)
  }

  /// Connects to the current owner, and sends the letters that are neither acknowledged nor
  /// returned again, in order, marked as repeated.
  public mutating func reconnect(
    waitingForOwnerUntil deadline: Deadline, stop: StopSignal? = nil
  ) throws(MailboxError) {
    socket = try search.run(until: deadline, stop: stop)
    failure = nil
    for index in unsettled.indices where unsettled[index].isHandedOver {
      unsettled[index].isHandedOver = false
      unsettled[index].isRepeated = true
    }
    try wait(until: deadline, stop: stop) {
      $0.unsettled.allSatisfy { $0.isHandedOver || $0.isReturned }
    }
  }

  // MARK: Connection

  private func hasRoom(for byteCount: Int) -> Bool {
    let bytes = unsettled.reduce(byteCount) { $0 + $1.payload.count }
    return unsettled.count < Mailbox.maximumUnsettledCount && bytes <= Mailbox.maximumUnsettledBytes
  }

  /// Reads answers and sends letters until a condition holds.
  private mutating func wait(
    until deadline: Deadline, stop: StopSignal?,
    for condition: (borrowing MailboxSender) -> Bool
  ) throws(MailboxError) {
    while true {
      readAnswers()
      handOver()
      if condition(self) { return }
      if let failure { throw failure }
      // Waiting frees no room that returned letters take.
      if !unsettled.isEmpty, unsettled.allSatisfy(\.isReturned) {
        throw .returned(name, count: unsettled.count)
      }
      if stop?.isRaised == true || deadline.isPast {
        throw .timedOut(name, unsettledCount: unsettled.count)
      }
      // A full socket holds letters that the owner has yet to answer, so it is enough to wait for
      // answers. But no event reports that a kernel short of memory has recovered: retry.
      let isHeldUp = unsettled.contains { !$0.isHandedOver }
      _ = poll(
        socket.descriptor.number, stop?.descriptorNumber,
        until: isHeldUp ? min(deadline, .after(Self.retryInterval)) : deadline)
    }
  }

  private mutating func handOver() {
    while failure == nil, let index = unsettled.firstIndex(where: { !$0.isHandedOver }) {
      let letter = unsettled[index]
      let packet = MailboxPacket(
        letter.isRepeated ? .repeatedLetter : .letter, sender: id, sequence: letter.sequence)
      switch packet.send(over: socket, payload: letter.payload) {
      case .sent: unsettled[index].isHandedOver = true
      case .wouldBlock, .shortOfResources: return
      // The owner may have sent the reason before it disconnected.
      case .disconnected: return readAnswers()
      }
    }
  }

  private mutating func readAnswers() {
    while failure == nil {
      switch inbox.take(from: socket) {
      case .nothing: return
      case .packet(let packet, _): accept(packet)
      case .end: failure = .ownerGone(name, unsettledCount: unsettled.count)
      case .malformed: failure = .untrusted(name, why: "its answers are malformed")
      }
    }
  }

  private mutating func accept(_ packet: MailboxPacket) {
    let index = unsettled.firstIndex { $0.sequence == packet.sequence && $0.isHandedOver }
    switch (packet.kind, index) {
    case (.acknowledged, let index?): unsettled.remove(at: index)
    case (.returned, let index?): unsettled[index].isReturned = true
    case (.turnedAway, _):
      failure =
        MailboxTurnAway(rawValue: packet.sequence).map { .turnedAway(name, $0) }
        ?? .untrusted(name, why: "its answers are malformed")
    default: failure = .untrusted(name, why: "it sent an unexpected answer")
    }
  }
}
