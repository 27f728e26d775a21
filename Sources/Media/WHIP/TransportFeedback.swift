/// The packets sent with a transport-wide sequence number whose arrival is not yet reported.
struct SentPackets {
  private struct Packet {
    var number: UInt16
    var byteCount = 0
    var sentNs: UInt64 = 0
  }

  /// More than leave within a round trip.
  fileprivate static let capacity = 4096
  private var packets = [Packet](repeating: Packet(number: 0), count: capacity)

  mutating func note(_ number: UInt16, byteCount: Int, atNs: UInt64) {
    packets[Int(number) % Self.capacity] = Packet(
      number: number, byteCount: byteCount, sentNs: atNs)
  }

  /// A packet is reported once, so that a peer cannot make this list long.
  fileprivate mutating func take(_ number: UInt16, arrivedNs: UInt64?) -> PacketArrival? {
    let packet = packets[Int(number) % Self.capacity]
    guard packet.number == number, packet.byteCount > 0 else { return nil }
    packets[Int(number) % Self.capacity].byteCount = 0
    return PacketArrival(
      sentNs: packet.sentNs, arrivedNs: arrivedNs, byteCount: packet.byteCount)
  }
}

/// Feedback on single packets, by transport-wide sequence numbers
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1).
enum TransportFeedback {
  /// The header extension that carries the number.
  static let address =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

  private static let headerSize = 16
  private static let timeUnitNs: UInt64 = 64_000_000
  private static let deltaNs: Int64 = 250_000
  /// So that no time is negative.
  private static let originNs: Int64 = 1 << 60

  /// What a packet reports, after the header that all RTCP packets have. The bytes are
  /// untrusted; what is cut off is not reported.
  static func arrivals(in body: [UInt8], of sent: inout SentPackets) -> [PacketArrival] {
    guard body.count >= headerSize else { return [] }
    let first = UInt16(body[8]) << 8 | UInt16(body[9])
    // Few bytes can stand for thousands of packets.
    let count = min(Int(body[10]) << 8 | Int(body[11]), SentPackets.capacity)
    let reference = UInt64(body[12]) << 16 | UInt64(body[13]) << 8 | UInt64(body[14])
    var position = headerSize
    let statuses = statuses(in: body, count, &position)
    var timeNs = originNs + Int64(reference * timeUnitNs)
    var found: [PacketArrival] = []
    for (offset, status) in statuses.enumerated() where status < 3 {
      guard position + status <= body.count else { break }
      // No time, one byte without a sign, or two with one.
      let delta =
        switch status {
        case 0: Int64(0)
        case 1: Int64(body[position])
        default: Int64(Int16(bitPattern: UInt16(body[position]) << 8 | UInt16(body[position + 1])))
        }
      position += status
      timeNs += delta * deltaNs
      let number = first &+ UInt16(truncatingIfNeeded: offset)
      let packet = sent.take(number, arrivedNs: status == 0 ? nil : UInt64(timeNs))
      if let packet { found.append(packet) }
    }
    return found
  }

  /// The status of each packet: 0 for lost, else the bytes of its time. Moves the position behind
  /// them.
  private static func statuses(
    in body: [UInt8], _ count: Int, _ position: inout Int
  ) -> [Int] {
    var found: [Int] = []
    while found.count < count, position + 2 <= body.count {
      let chunk = Int(body[position]) << 8 | Int(body[position + 1])
      position += 2
      let left = count - found.count
      if chunk & 0x8000 == 0 {
        found += repeatElement(chunk >> 13 & 3, count: min(left, chunk & 0x1fff))
      } else if chunk & 0x4000 == 0 {
        found += (0..<min(left, 14)).map { chunk >> (13 - $0) & 1 }
      } else {
        found += (0..<min(left, 7)).map { chunk >> (12 - 2 * $0) & 3 }
      }
    }
    return found
  }
}

extension SessionDescription {
  /// The identifier that is offered for transport-wide sequence numbers.
  private static let offeredExtension = 5

  /// The offer with the header extension for transport-wide sequence numbers in its sections of
  /// video.
  public static func numberingPackets(in offer: String) -> String {
    var isVideo = false
    return offer.split(separator: "\r\n", omittingEmptySubsequences: false).flatMap { line in
      if line.hasPrefix("m=") { isVideo = line.hasPrefix("m=video ") }
      guard isVideo, line.hasPrefix("a=mid:") else { return [String(line)] }
      return [String(line), "a=extmap:\(offeredExtension) \(TransportFeedback.address)"]
    }.joined(separator: "\r\n")
  }

  /// The identifier that an answer accepts for them; nil if it accepts none.
  public var packetNumberExtension: UInt32? {
    for section in media where section.kind == "video" && section.isAccepted {
      for attribute in section.attributes where attribute.hasPrefix("extmap:") {
        let words = attribute.dropFirst(7).split(separator: " ")
        guard words.count >= 2, words[1] == TransportFeedback.address,
          let number = words[0].split(separator: "/").first.flatMap({ UInt32($0) }),
          (1...14).contains(number)
        else { continue }
        return number
      }
    }
    return nil
  }
}
