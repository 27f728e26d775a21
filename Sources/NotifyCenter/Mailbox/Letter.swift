import Platform
import Synchronization

/// A received payload. It is either acknowledged, returned to its sender when it is dropped
/// unacknowledged, or in doubt when its receiver dies first.
public struct Letter: ~Copyable, Sendable {
  /// The bytes that were sent.
  public let payload: [UInt8]
  /// Identifies the sender for its whole life, across owners of the mailbox.
  public let senderID: UInt64
  /// Number of the letter among the sender's, from 1. Together with `senderID` it distinguishes a
  /// repeated letter from a new one.
  public let sequence: UInt64
  /// Whether a previous owner may have processed it.
  public let isRepeated: Bool
  private let correspondent: Correspondent
  private var isAcknowledged = false

  /// The process that connected to the mailbox, as the kernel reports it.
  public var sender: PeerCredentials { correspondent.peer }

  /// - Returns: nil if the sender violates the protocol.
  init?(_ packet: MailboxPacket, _ payload: [UInt8], from correspondent: Correspondent) {
    let isLetter = packet.kind == .letter || packet.kind == .repeatedLetter
    guard isLetter, correspondent.begin() else { return nil }
    self.payload = payload
    senderID = packet.sender
    sequence = packet.sequence
    isRepeated = packet.kind == .repeatedLetter
    self.correspondent = correspondent
  }

  /// Tells the sender that the letter was processed. Never blocks. May be called in any order and
  /// on any thread.
  public consuming func acknowledge() { isAcknowledged = true }

  deinit {
    let kind: MailboxPacket.Kind = isAcknowledged ? .acknowledged : .returned
    correspondent.end(MailboxPacket(kind, sender: senderID, sequence: sequence))
  }
}

/// An owner's end of one sender's connection.
final class Correspondent: Sendable {
  let socket: SharedSocket
  let peer: PeerCredentials
  private let unsettledCount = Atomic<Int>(0)

  init(_ socket: SharedSocket, _ peer: PeerCredentials) {
    self.socket = socket
    self.peer = peer
  }

  /// Counts a new letter.
  /// - Returns: false if the sender exceeds its limit.
  func begin() -> Bool {
    // Relaxed: only the owner's thread adds, and letters that end meanwhile only make room.
    unsettledCount.wrappingAdd(1, ordering: .relaxed).newValue <= Mailbox.maximumUnsettledCount
  }

  /// Answers a letter. The socket has room for all answers of a sender that keeps the protocol. A
  /// sender that reads none, or is gone, misses them.
  func end(_ answer: MailboxPacket) {
    // Relaxed: decremented before the answer is sent, so a sender that has read it may send.
    unsettledCount.wrappingSubtract(1, ordering: .relaxed)
    _ = answer.send(over: socket.messages)
  }
}
