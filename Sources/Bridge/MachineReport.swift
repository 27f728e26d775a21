import AppGroup
import Platform
import SharedDefaults

/// What one machine says about itself to the others: its streams, and its clock.
package struct MachineReport: Sendable, Equatable {
  /// A stream that other machines may list.
  package struct Stream: Sendable, Equatable {
    package var name: String
    package var state: String
    package var format: String
    package var addresses: [String]

    package init(name: String, state: String, format: String, addresses: [String]) {
      self.name = name
      self.state = state
      self.format = format
      self.addresses = addresses
    }
  }

  package var machine: MachineName
  package var machineID: UInt64
  /// How far its wall clock is ahead of the server's, and how far that may be wrong; nil until
  /// measured.
  package var clock: ClockOffset?
  package var streams: [Stream]
  /// Whether its bridge has ended in order.
  package var hasLeft = false

  package static let maximumBytes = 65536
  private static let maximumStreams = 64
  private static let magic: UInt32 = 0x314d_4246  // “FBM1”

  package init(machine: MachineName, machineID: UInt64, streams: [Stream] = []) {
    self.machine = machine
    self.machineID = machineID
    self.streams = streams
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(Self.magic)
    writer.integer(machineID)
    writer.integer(UInt8(hasLeft ? 1 : 0) | UInt8(clock == nil ? 0 : 2))
    writer.integer(clock?.aheadNs ?? 0)
    writer.integer(clock?.errorNs ?? 0)
    func text(_ text: String) {
      let bytes = text.utf8.prefix(BridgeText.maximumBytes)
      writer.integer(UInt16(bytes.count))
      writer.raw(bytes)
    }
    text(machine.text)
    let listed = streams.prefix(Self.maximumStreams)
    writer.integer(UInt8(listed.count))
    for stream in listed {
      for part in [stream.name, stream.state, stream.format] { text(part) }
      let addresses = stream.addresses.prefix(4)
      writer.integer(UInt8(addresses.count))
      for address in addresses { text(address) }
    }
    return writer.bytes
  }

  /// - Returns: nil unless the bytes are exactly one report, whose texts can be shown in one line.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumBytes else { return nil }
    var parser = ByteParser(bytes)
    do throws(FormatError) {
      guard try parser.integer(UInt32.self) == Self.magic else { return nil }
      machineID = try parser.integer(UInt64.self)
      let flags = try parser.integer(UInt8.self)
      let clock = ClockOffset(
        aheadNs: try parser.integer(Int64.self), errorNs: try parser.integer(UInt64.self))
      guard flags < 4, machineID != 0, let machine = MachineName(try BridgeText.parse(&parser))
      else { return nil }
      hasLeft = flags & 1 != 0
      self.clock = flags & 2 != 0 ? clock : nil
      self.machine = machine
      streams = []
      for _ in 0..<min(Int(try parser.integer(UInt8.self)), Self.maximumStreams) {
        streams.append(try Self.stream(&parser))
      }
    } catch {
      return nil
    }
    guard parser.isAtEnd else { return nil }
  }

  private static func stream(_ parser: inout ByteParser) throws(FormatError) -> Stream {
    let name = try BridgeText.parse(&parser)
    let state = try BridgeText.parse(&parser)
    let format = try BridgeText.parse(&parser)
    guard NameRule(brokenBy: name) == nil, state.isPlain, format.isPlain else { throw .wrong }
    var addresses: [String] = []
    for _ in 0..<(try parser.integer(UInt8.self)) {
      let address = try BridgeText.parse(&parser)
      guard BridgePolicy.isAddress(address), addresses.count < 4 else { throw .wrong }
      addresses.append(address)
    }
    return Stream(name: name, state: state, format: format, addresses: addresses)
  }
}

/// The wall clock of a machine beside the server's.
package struct ClockOffset: Sendable, Equatable {
  package let aheadNs: Int64
  package let errorNs: UInt64

  package init(aheadNs: Int64, errorNs: UInt64) {
    self.aheadNs = aheadNs
    self.errorNs = errorNs
  }

  /// From the wall clock before and after the server stored something at its own time.
  package init(beforeNs: UInt64, serverNs: UInt64, afterNs: UInt64) {
    let middle = beforeNs / 2 &+ afterNs / 2
    aheadNs = Int64(truncatingIfNeeded: middle &- serverNs)
    errorNs = afterNs > beforeNs ? (afterNs - beforeNs) / 2 : 0
  }

  /// Such as `1.204 s behind the server's (± 0.001 s)`.
  package var text: String {
    let size = milliseconds(aheadNs.magnitude)
    let direction = aheadNs < 0 ? "behind" : "ahead of"
    return "\(size) s \(direction) the server's (± \(milliseconds(errorNs)) s)"
  }

  private func milliseconds(_ ns: UInt64) -> String {
    let whole = ns / 1_000_000
    let rest = "\(whole % 1000)"
    return "\(whole / 1000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
  }
}

/// A text of bounded length in a message, after its count of bytes.
enum BridgeText {
  static let maximumBytes = 512

  static func parse(_ parser: inout ByteParser) throws(FormatError) -> String {
    let count = Int(try parser.integer(UInt16.self))
    guard count <= maximumBytes else { throw .wrong }
    return try parser.text(byteCount: count)
  }
}
