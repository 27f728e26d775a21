import Platform

/// One packet between a sender and an owner, numbers in little endian:
///
///       0  magic, "FBML"        4  version, u16    6  kind, u16
///       8  sender, u64         16  sequence, u64  24  payload
///
/// What the fields mean: docs/design/mailbox.md.
package struct MailboxPacket {
  package enum Kind: UInt16 {
    case letter = 1
    /// A letter that an owner before this one may have worked on.
    case repeatedLetter = 2
    case acknowledged = 3
    case returned = 4
    /// The end: the sequence is a ``MailboxTurnAway``.
    case turnedAway = 5
  }

  package static let headerBytes = 24
  private static let magic: UInt32 = 0x4c4d_4246
  private static let version: UInt16 = 1

  let kind: Kind
  /// Names the sender, from its making to its end, whoever owns the mailbox meanwhile.
  let sender: UInt64
  let sequence: UInt64

  /// The header, before a payload.
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

  /// Reads what a peer sent; nil if it is no packet of this protocol.
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

/// Where packets arrive: room for the largest.
struct MailboxInbox: Sendable {
  private var bytes: [UInt8] = Array(
    repeating: 0, count: MailboxPacket.headerBytes + Mailbox.maximumLetterBytes)

  enum Arrival {
    case nothing
    case packet(MailboxPacket, payload: [UInt8])
    /// The peer has gone, and all it said was read.
    case end
    /// The peer does not keep the protocol.
    case garbage
  }

  /// Takes one packet out of a socket.
  mutating func take(from socket: borrowing MessageSocket) -> Arrival {
    // A peer that died before it read all we said is an error first (ECONNRESET); what it said
    // before comes after that.
    for _ in 0..<2 {
      var elements = bytes.mutableSpan
      // SAFETY: bytes have no value that is not allowed.
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
    else { return .garbage }
    return .packet(packet, payload: Array(bytes.dropFirst(MailboxPacket.headerBytes)))
  }
}

extension MailboxPacket {
  /// Sends the packet, without ever blocking.
  func send(
    over socket: borrowing MessageSocket, payload: [UInt8] = []
  ) -> MessageSocket.SendResult {
    let bytes = bytes(before: payload)
    // SAFETY: bytes have no padding that could be read uninitialised.
    return unsafe socket.send(bytes.span.bytes)
  }
}
