import CChecksum

/// One change of a suite, of one key or several, whole or not at all.
package struct JournalRecord: Equatable {
  package let sequence: UInt64
  /// What each key is set to; nil removes it.
  package let changes: [String: DefaultsValue?]

  package var bytes: [UInt8] {
    var payload = ByteWriter()
    payload.integer(sequence)
    payload.integer(UInt32(changes.count))
    for (key, value) in changes.sorted(by: { $0.key < $1.key }) {
      payload.text(key)
      if let value { payload.value(value) } else { payload.integer(ValueTag.removed.rawValue) }
    }
    return Self.sealed(payload.bytes)
  }

  /// A record of any bytes, of which the first eight are its sequence number.
  package static func sealed(_ payload: [UInt8]) -> [UInt8] {
    var header = ByteWriter()
    header.integer(UInt32(payload.count - MemoryLayout<UInt64>.size))
    header.integer(checksum(of: payload))
    return header.bytes + payload
  }

  /// Reads the record that stands at the beginning of some bytes.
  /// - Returns: nil if none does, and else how many bytes it has too.
  package static func parse(_ bytes: ArraySlice<UInt8>) -> (record: JournalRecord, byteCount: Int)?
  {
    do throws(Malformed) {
      var header = ByteParser(bytes)
      let count = Int(try header.integer(UInt32.self))
      let expected = try header.integer(UInt32.self)
      guard count <= SuiteFormat.maximumRecordBytes else { return nil }
      let payload = try header.raw(MemoryLayout<UInt64>.size + count)
      guard checksum(of: payload) == expected else { return nil }
      var parser = ByteParser(payload)
      let sequence = try parser.integer(UInt64.self)
      let changeCount = try parser.count()
      var changes: [String: DefaultsValue?] = [:]
      for _ in 0..<changeCount {
        let key = try parser.key()
        changes.updateValue(try parser.change(), forKey: key)
      }
      guard parser.isAtEnd, changes.count == changeCount else { return nil }
      let record = JournalRecord(sequence: sequence, changes: changes)
      return (record, SuiteFormat.recordHeaderBytes + count)
    } catch {
      return nil
    }
  }
}

extension SuiteImage {
  /// Makes the changes of a journal, up to the first that is not the next one.
  /// - Returns: how many bytes they have.
  package mutating func apply(journal: ArraySlice<UInt8>) -> Int {
    var rest = journal
    while !rest.isEmpty, let (record, byteCount) = JournalRecord.parse(rest), apply(record) {
      rest = rest.dropFirst(byteCount)
    }
    return journal.count - rest.count
  }

  /// Makes a change, if it is the next one.
  /// - Returns: false if it is another, or would make the suite larger than it may be.
  mutating func apply(_ record: JournalRecord) -> Bool {
    guard record.sequence == sequence &+ 1 else { return false }
    for (key, value) in record.changes { values[key] = value }
    sequence = record.sequence
    return values.count <= SuiteFormat.maximumKeys
  }
}

/// CRC-32C of bytes: it tells what was torn or rotted, not what somebody forged.
func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
  let whole = bytes.withContiguousStorageIfAvailable {
    // SAFETY: the C function reads exactly the bytes' own length, during the call only.
    unsafe fb_crc32c(0, $0.baseAddress, $0.count)
  }
  return whole ?? checksum(of: Array(bytes))
}
