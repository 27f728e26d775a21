import Platform

/// One or more posts of a name on one machine, and the name's state then, as they cross a network.
package struct Note: Hashable, Sendable {
  package let machine: MachineName
  /// Distinguishes machines that had the same name, one after the other.
  package let machineID: UInt64
  /// Grows with each note of the machine and name: the bridge's start in the upper 24 bits, and a
  /// count in the others. A receiver delivers a position once.
  package let position: UInt64
  /// Orders the states of one name that different machines set: a Lamport clock.
  package let stamp: UInt64
  package let state: UInt64
  package let name: String

  package static let maximumBytes = 640
  /// No clock that counts posts reaches it, and counting from it does not overflow.
  static let maximumStamp: UInt64 = 1 << 62
  private static let magic: UInt32 = 0x314e_4246  // “FBN1”

  package init(
    machine: MachineName, machineID: UInt64, position: UInt64, stamp: UInt64, state: UInt64,
    name: String
  ) {
    self.machine = machine
    self.machineID = machineID
    self.position = position
    self.stamp = stamp
    self.state = state
    self.name = name
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(Self.magic)
    for number in [machineID, position, stamp, state] { writer.integer(number) }
    writer.integer(UInt8(machine.text.utf8.count))
    writer.raw(machine.text.utf8)
    writer.integer(UInt16(name.utf8.count))
    writer.raw(name.utf8)
    return writer.bytes
  }

  /// - Returns: nil unless the bytes are exactly one note.
  package init?(parsing bytes: [UInt8]) { self.init(parsing: bytes.span) }

  /// Not by ByteParser: at each delivery, on each machine, its generic code and its copies cost as
  /// much time as the post.
  package init?(parsing bytes: Span<UInt8>) {
    guard bytes.count <= Self.maximumBytes, bytes.count >= Self.machineOffset,
      Self.number(in: bytes, 0..<4) == UInt64(Self.magic)
    else { return nil }
    machineID = Self.number(in: bytes, 4..<12)
    position = Self.number(in: bytes, 12..<20)
    stamp = Self.number(in: bytes, 20..<28)
    state = Self.number(in: bytes, 28..<36)
    let machineEnd = Self.machineOffset + Int(bytes[36])
    let nameOffset = machineEnd + 2
    guard nameOffset <= bytes.count else { return nil }
    let nameBytes = Int(Self.number(in: bytes, machineEnd..<nameOffset))
    guard nameOffset + nameBytes == bytes.count, (1...512).contains(nameBytes), machineID != 0,
      position != 0, stamp < Self.maximumStamp,
      let machineText = Self.text(in: bytes, Self.machineOffset..<machineEnd),
      let machine = MachineName(machineText),
      let name = Self.text(in: bytes, nameOffset..<bytes.count)
    else { return nil }
    self.machine = machine
    self.name = name
  }

  private static let machineOffset = 37

  /// In little endian.
  private static func number(in bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    var value: UInt64 = 0
    for index in range.reversed() { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  private static func text(in bytes: Span<UInt8>, _ range: Range<Int>) -> String? {
    guard let text = try? UTF8Span(validating: bytes.extracting(range)) else { return nil }
    return String(copying: text)
  }
}
