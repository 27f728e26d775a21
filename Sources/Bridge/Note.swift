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
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumBytes else { return nil }
    var parser = ByteParser(bytes)
    do throws(FormatError) {
      guard try parser.integer(UInt32.self) == Self.magic else { return nil }
      machineID = try parser.integer(UInt64.self)
      position = try parser.integer(UInt64.self)
      stamp = try parser.integer(UInt64.self)
      state = try parser.integer(UInt64.self)
      let machineBytes = Int(try parser.integer(UInt8.self))
      guard let machine = MachineName(try parser.text(byteCount: machineBytes)) else { return nil }
      self.machine = machine
      let nameBytes = Int(try parser.integer(UInt16.self))
      name = try parser.text(byteCount: nameBytes)
    } catch {
      return nil
    }
    guard parser.isAtEnd, machineID != 0, position != 0, stamp < Self.maximumStamp,
      (1...512).contains(name.utf8.count)
    else { return nil }
  }
}
