import Platform

/// The contents of a suite after a change: its values and the change's sequence number.
package struct SuiteImage: Equatable {
  package var values: [String: DefaultsValue] = [:]
  /// The number of changes that were ever made.
  package var sequence: UInt64 = 0

  package init(values: [String: DefaultsValue] = [:], sequence: UInt64 = 0) {
    self.values = values
    self.sequence = sequence
  }

  /// The bytes of a file with this as its snapshot and an empty journal.
  package func fileBytes() throws(DefaultsError) -> [UInt8] {
    var body = ByteWriter()
    body.entries(values)
    guard body.bytes.count <= SuiteFormat.maximumSnapshotBytes,
      values.count <= SuiteFormat.maximumKeys
    else { throw .suiteTooLarge(byteCount: body.bytes.count, keyCount: values.count) }
    let bytes = Self.file(sequence: sequence, snapshot: body.bytes)
    // A file that no reader would accept must not replace the present one.
    guard (try? Self.parse(bytes)) != nil else {
      throw .suiteTooLarge(byteCount: bytes.count, keyCount: values.count)
    }
    return bytes
  }

  /// The bytes of a file with the given bytes as its snapshot.
  package static func file(sequence: UInt64, snapshot: [UInt8]) -> [UInt8] {
    var checked = ByteWriter()
    checked.integer(sequence)
    checked.integer(UInt64(snapshot.count))
    var header = ByteWriter()
    header.raw(SuiteFormat.magic)
    header.integer(SuiteFormat.version)
    header.integer(checksum(of: checked.bytes + snapshot))
    header.raw(checked.bytes)
    header.zeros(upTo: SuiteFormat.atExtent)
    header.integer(UInt64(SuiteFormat.headerBytes + snapshot.count))
    header.zeros(upTo: SuiteFormat.headerBytes)
    return header.bytes + snapshot
  }

  /// The reason that bytes are not a valid suite.
  package enum Refusal: Error, Equatable {
    case newerVersion(UInt32)
    case damaged(String)
  }

  /// Parses the header and the snapshot of a file.
  /// - Returns: the contents and the offset of the journal.
  package static func parse(
    _ bytes: [UInt8]
  ) throws(Refusal) -> (image: SuiteImage, journalStart: Int) {
    guard bytes.starts(with: SuiteFormat.magic), bytes.count >= SuiteFormat.headerBytes else {
      throw .damaged("it does not begin like a suite")
    }
    do throws(FormatError) {
      var header = ByteParser(bytes[SuiteFormat.atVersion..<SuiteFormat.checkedEnd])
      let version = try header.integer(UInt32.self)
      if version != SuiteFormat.version { throw FormatError.wrong }
      let expected = try header.integer(UInt32.self)
      let sequence = try header.integer(UInt64.self)
      let count = try header.integer(UInt64.self)
      guard sequence <= SuiteFormat.maximumSequence, count <= SuiteFormat.maximumSnapshotBytes,
        SuiteFormat.headerBytes + Int(count) <= bytes.count
      else { throw FormatError.wrong }
      let end = SuiteFormat.headerBytes + Int(count)
      let body = bytes[SuiteFormat.headerBytes..<end]
      let checked = bytes[SuiteFormat.atSequence..<SuiteFormat.checkedEnd]
      guard checksum(of: checked + body) == expected else { throw FormatError.wrong }
      var parser = ValueParser(body)
      let values = try parser.entries()
      guard parser.bytes.isAtEnd, values.count <= SuiteFormat.maximumKeys else {
        throw FormatError.wrong
      }
      return (SuiteImage(values: values, sequence: sequence), end)
    } catch {
      if let version = newerVersion(of: bytes) { throw .newerVersion(version) }
      throw .damaged("its snapshot is damaged")
    }
  }

  private static func newerVersion(of bytes: [UInt8]) -> UInt32? {
    var parser = ByteParser(bytes[SuiteFormat.atVersion..<SuiteFormat.atChecksum])
    guard let version = try? parser.integer(UInt32.self), version > SuiteFormat.version else {
      return nil
    }
    return version
  }
}
