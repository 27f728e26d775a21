import Platform

/// The head of a replay file: written once, before the file gets its name.
struct ReplayHead: Hashable, Sendable {
  static let blockBytes = 4096
  private static let byteCount = 48
  private static let magic = Array("FBREPLAY".utf8)
  private static let version: UInt32 = 1
  private static let entryLimits = 64...1 << 18
  private static let dataLimits = 1 << 12...1 << 30

  /// The number of entries in the index.
  let entryCount: Int
  let dataBytes: Int
  /// The seconds that the user requested.
  let lengthNs: UInt64
  /// As the writer says.
  let processID: Int32

  var dataOffset: Int { Self.blockBytes + entryCount * ReplayEntry.byteCount }
  var fileBytes: Int { dataOffset + dataBytes }

  /// Room for the length at 1.5 times the bitrate, because encoders exceed it for a while, and for
  /// 300 pictures and sounds a second.
  init(lengthNs: UInt64, bitsPerSecond: Int, processID: Int32) {
    let seconds = Double(lengthNs) / 1e9
    let bytes = seconds * (Double(bitsPerSecond) * 1.5 + 192_000) / 8
    dataBytes = min(max(Int(bytes), 8 << 20), Self.dataLimits.upperBound)
    entryCount = min(max(Int(seconds * 300), 1024), Self.entryLimits.upperBound)
    self.lengthNs = lengthNs
    self.processID = processID
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.raw(Self.magic)
    writer.integer(Self.version)
    writer.integer(UInt32(entryCount))
    writer.integer(UInt64(dataBytes))
    writer.integer(lengthNs)
    writer.integer(UInt32(bitPattern: processID))
    writer.zeros(upTo: Self.byteCount - 4)
    writer.integer(checksum(of: writer.bytes[...]))
    writer.zeros(upTo: Self.blockBytes)
    return writer.bytes
  }

  /// - Parameter fileBytes: the actual size of the file.
  init(_ bytes: [UInt8], fileBytes: Int) throws(FormatError) {
    var parser = ByteParser(bytes)
    guard try parser.raw(Self.magic.count) == Self.magic else { throw .wrong }
    let version = try parser.integer(UInt32.self)
    let entryCount = Int(try parser.integer(UInt32.self))
    let dataBytes = Int(exactly: try parser.integer(UInt64.self)) ?? -1
    lengthNs = try parser.integer(UInt64.self)
    processID = Int32(bitPattern: try parser.integer(UInt32.self))
    try parser.skip(Self.byteCount - 4 - parser.position)
    let covered = parser.consumed
    guard try parser.integer(UInt32.self) == checksum(of: covered) else { throw .wrong }
    if version > Self.version { throw .newer }
    guard version == Self.version, Self.entryLimits.contains(entryCount),
      Self.dataLimits.contains(dataBytes),
      Double(lengthNs) <= ReplayLength.limits.upperBound * 1e9
    else { throw .wrong }
    self.entryCount = entryCount
    self.dataBytes = dataBytes
    guard self.fileBytes <= fileBytes else { throw .wrong }
  }
}

/// A row of the index: where a unit's bytes are, and their checksum. The row of sequence number n
/// is n modulo the number of rows.
struct ReplayEntry: Hashable, Sendable {
  static let byteCount = 64
  /// Bounds that keep sums of times far from overflow.
  private static let longestTimeNs: UInt64 = 1 << 60
  private static let longestDurationNs: UInt64 = 600_000_000_000

  let sequence: UInt64
  let offset: Int
  let length: Int
  let kind: ReplayUnit.Kind
  let isKey: Bool
  let ptsNs: UInt64
  let dtsNs: UInt64
  let durationNs: UInt64
  let payloadChecksum: UInt32

  init(_ unit: ReplayUnit, sequence: UInt64, offset: Int) {
    self.sequence = sequence
    self.offset = offset
    length = unit.bytes.count
    kind = unit.kind
    isKey = unit.isKey
    ptsNs = unit.ptsNs
    dtsNs = unit.dtsNs
    durationNs = unit.durationNs
    payloadChecksum = checksum(of: unit.bytes[...])
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(sequence)
    writer.integer(UInt64(offset))
    writer.integer(UInt32(length))
    writer.integer(kind.rawValue)
    writer.integer(UInt8(isKey ? 1 : 0))
    writer.integer(UInt16(0))
    for time in [ptsNs, dtsNs, durationNs] { writer.integer(time) }
    writer.integer(payloadChecksum)
    writer.zeros(upTo: Self.byteCount - 4)
    writer.integer(checksum(of: writer.bytes[...]))
    return writer.bytes
  }

  /// - Throws: also for a row that was never written, or only in part.
  init(_ bytes: ArraySlice<UInt8>, row: Int, of head: ReplayHead) throws(FormatError) {
    var parser = ByteParser(bytes)
    sequence = try parser.integer(UInt64.self)
    let offset = try parser.integer(UInt64.self)
    length = Int(try parser.integer(UInt32.self))
    guard let kind = ReplayUnit.Kind(rawValue: try parser.integer(UInt8.self)) else {
      throw .wrong
    }
    self.kind = kind
    isKey = try parser.integer(UInt8.self) & 1 == 1
    try parser.skip(2)
    ptsNs = try parser.integer(UInt64.self)
    dtsNs = try parser.integer(UInt64.self)
    durationNs = try parser.integer(UInt64.self)
    payloadChecksum = try parser.integer(UInt32.self)
    try parser.skip(Self.byteCount - 4 - parser.position)
    let covered = parser.consumed
    guard try parser.integer(UInt32.self) == checksum(of: covered), sequence > 0,
      sequence % UInt64(head.entryCount) == UInt64(row), length > 0,
      offset <= UInt64(head.dataBytes), length <= head.dataBytes - Int(offset),
      max(ptsNs, dtsNs) < Self.longestTimeNs, durationNs <= Self.longestDurationNs
    else { throw .wrong }
    self.offset = Int(offset)
  }
}
