import Platform
import Synchronization

/// A received payload. It ends in one of three ways: acknowledged; returned to its sender, if it is
/// dropped without; or in doubt, if its receiver dies first.
public struct Letter: ~Copyable, Sendable {
  public let payload: [UInt8]
  /// Names the sender for as long as it lives, across owners of the mailbox.
  public let senderID: UInt64
  /// Counts the sender's letters, from 1. With `senderID` this tells a repeated letter from a new
  /// one.
  public let sequence: UInt64
  /// Whether an owner before this one may have worked on it.
  public let isRepeated: Bool
  private let correspondent: Correspondent
  private var isAcknowledged = false

  /// Who connected to the mailbox, by the kernel's word.
  public var sender: PeerCredentials { correspondent.peer }

  /// - Returns: nil if the sender does not keep the protocol.
  init?(_ packet: MailboxPacket, _ payload: [UInt8], from correspondent: Correspondent) {
    let isLetter = packet.kind == .letter || packet.kind == .repeatedLetter
    guard isLetter, correspondent.begin() else { return nil }
    self.payload = payload
    senderID = packet.sender
    sequence = packet.sequence
    isRepeated = packet.kind == .repeatedLetter
    self.correspondent = correspondent
  }

  /// Tells the sender that the letter has done its work. Never blocks, and may be called in any
  /// order and on any thread.
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

  /// Counts a letter.
  /// - Returns: false if the sender has sent more than it may.
  func begin() -> Bool {
    // Relaxed: only the owner adds, and letters that end meanwhile make room.
    unsettledCount.wrappingAdd(1, ordering: .relaxed).newValue <= Mailbox.maximumUnsettledCount
  }

  /// Answers a letter. A sender that keeps the protocol has room for all its answers; whoever has
  /// none, or is gone, misses them.
  func end(_ answer: MailboxPacket) {
    // Relaxed: before the answer, so that whoever has read it may send at once.
    unsettledCount.wrappingSubtract(1, ordering: .relaxed)
    _ = answer.send(over: socket.messages)
  }
}
