import CChecksum
import Platform

/// One atomic change of one or more keys of a suite.
package struct JournalRecord: Equatable {
  package let sequence: UInt64
  /// The new value of each key; nil removes the key.
  package let changes: [String: DefaultsValue?]

  /// Whether every reader accepts it: nothing in it can be too long, too many or too deep.
  var isSimple: Bool {
    changes.count == 1 && changes.values.allSatisfy { $0?.hasFixedSize ?? true }
  }

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

  /// A record with any payload. The payload's first eight bytes are the sequence number.
  package static func sealed(_ payload: [UInt8]) -> [UInt8] {
    var header = ByteWriter()
    header.integer(UInt32(payload.count - MemoryLayout<UInt64>.size))
    header.integer(checksum(of: payload))
    return header.bytes + payload
  }

  /// Parses the record at the beginning of the bytes.
  /// - Returns: the record and its size; nil if the bytes do not begin with a valid record.
  package static func parse(_ bytes: ArraySlice<UInt8>) -> (record: JournalRecord, byteCount: Int)?
  {
    do throws(FormatError) {
      var header = ByteParser(bytes)
      let count = Int(try header.integer(UInt32.self))
      let expected = try header.integer(UInt32.self)
      guard count <= SuiteFormat.maximumRecordBytes else { return nil }
      let payload = try header.slice(MemoryLayout<UInt64>.size + count)
      guard checksum(of: payload) == expected else { return nil }
      var parser = ValueParser(payload)
      let sequence = try parser.bytes.integer(UInt64.self)
      let changeCount = try parser.count()
      var changes: [String: DefaultsValue?] = [:]
      for _ in 0..<changeCount {
        let key = try parser.key()
        changes.updateValue(try parser.change(), forKey: key)
      }
      guard parser.bytes.isAtEnd, changes.count == changeCount else { return nil }
      let record = JournalRecord(sequence: sequence, changes: changes)
      return (record, SuiteFormat.recordHeaderBytes + count)
    } catch {
      return nil
    }
  }
}

extension SuiteImage {
  /// Applies the records of a journal, up to the first that is invalid or out of sequence.
  /// - Returns: the size of the applied records in bytes.
  package mutating func apply(journal: ArraySlice<UInt8>) -> Int {
    var rest = journal
    while !rest.isEmpty, let (record, byteCount) = JournalRecord.parse(rest), apply(record) {
      rest = rest.dropFirst(byteCount)
    }
    return journal.count - rest.count
  }

  /// Applies a change if it is the next one in sequence.
  /// - Returns: false if it is not the next one, or if the suite would exceed its limit of keys.
  mutating func apply(_ record: JournalRecord) -> Bool {
    guard record.sequence == sequence &+ 1 else { return false }
    for (key, value) in record.changes { values[key] = value }
    sequence = record.sequence
    return values.count <= SuiteFormat.maximumKeys
  }
}

/// CRC-32C of bytes. It detects torn writes and bit errors, not forgery.
func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
  let whole = bytes.withContiguousStorageIfAvailable {
    // SAFETY: the C function reads exactly the bytes' own length, during the call only.
    unsafe fb_crc32c(0, $0.baseAddress, $0.count)
  }
  return whole ?? checksum(of: Array(bytes))
}
