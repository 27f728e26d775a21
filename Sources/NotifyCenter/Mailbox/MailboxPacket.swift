import Platform

/// A packet between a sender and an owner; numbers are little-endian:
///
///       0  magic, "FBML"        4  version, u16    6  kind, u16
///       8  sender, u64         16  sequence, u64  24  payload
///
/// For the meaning of the fields, see docs/design/mailbox.md.
package struct MailboxPacket {
  package enum Kind: UInt16 {
    case letter = 1
    /// A letter that a previous owner may have processed.
    case repeatedLetter = 2
    case acknowledged = 3
    case returned = 4
    /// The last packet: its sequence is a ``MailboxTurnAway``.
    case turnedAway = 5
  }

  package static let headerBytes = 24
  private static let magic: UInt32 = 0x4c4d_4246
  private static let version: UInt16 = 1

  let kind: Kind
  /// Identifies the sender for its whole life, across owners of the mailbox.
  let sender: UInt64
  let sequence: UInt64

  /// The bytes of the header, followed by a payload.
  package func bytes(before payload: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.headerBytes + payload.count)
    bytes.append(littleEndian: Self.magic)
    bytes.append(littleEndian: Self.version)
    bytes.append(littleEndian: kind.rawValue)
    bytes.append(littleEndian: sender)
    bytes.append(littleEndian: sequence)
    return bytes + payload
  }

  init(_ kind: Kind, sender: UInt64, sequence: UInt64) {
    self.kind = kind
    self.sender = sender
    self.sequence = sequence
  }

  /// Parses bytes of a peer; nil if they are not a packet of this protocol.
  package init?(parsing bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.headerBytes else { return nil }
    let start = bytes.startIndex
    guard UInt32(littleEndian: bytes[start..<start + 4]) == Self.magic,
      UInt16(littleEndian: bytes[start + 4..<start + 6]) == Self.version,
      let kind = Kind(rawValue: UInt16(littleEndian: bytes[start + 6..<start + 8]))
    else { return nil }
    self.init(
      kind, sender: UInt64(littleEndian: bytes[start + 8..<start + 16]),
      sequence: UInt64(littleEndian: bytes[start + 16..<start + 24]))
  }
}

/// A receive buffer for the largest packet.
struct MailboxInbox: Sendable {
  private var bytes: [UInt8] = Array(
    repeating: 0, count: MailboxPacket.headerBytes + Mailbox.maximumLetterBytes)

  enum Arrival {
    case nothing
    case packet(MailboxPacket, payload: [UInt8])
    /// The peer is gone, and all its packets were read.
    case end
    /// The peer violates the protocol.
    case malformed
  }

  /// Receives one packet from a socket.
  mutating func take(from socket: borrowing MessageSocket) -> Arrival {
    // If a peer dies before it reads all packets, the first receive fails with ECONNRESET; the
    // peer's own packets follow it.
    for _ in 0..<2 {
      var elements = bytes.mutableSpan
      // SAFETY: every bit pattern is a valid byte.
      var span = unsafe elements.mutableBytes
      do throws(SystemError) {
        guard let received = try socket.receive(into: &span) else { return .nothing }
        return arrival(received)
      } catch { continue }
    }
    return .end
  }

  private func arrival(_ received: borrowing MessageSocket.Received) -> Arrival {
    if received.byteCount == 0 { return .end }
    let bytes = bytes[..<received.byteCount]
    guard !received.isTruncated, received.descriptors.isEmpty,
      let packet = MailboxPacket(parsing: bytes)
    else { return .malformed }
    return .packet(packet, payload: Array(bytes.dropFirst(MailboxPacket.headerBytes)))
  }
}

extension MailboxPacket {
  /// Sends the packet. Never blocks.
  func send(
    over socket: borrowing MessageSocket, payload: [UInt8] = []
  ) -> MessageSocket.SendResult {
    let bytes = bytes(before: payload)
    // SAFETY: bytes have no padding that could be read uninitialised.
    return unsafe socket.send(bytes.span.bytes)
  }
}
