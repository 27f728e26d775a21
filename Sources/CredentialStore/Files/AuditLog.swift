import AppGroup
import Platform

/// The log of one role: a chain of records, each signed by the role.
enum AuditLog {
  /// A verified record and its hash.
  struct Last {
    let record: AuditRecord
    let hash: [UInt8]
  }

  /// Appends a record. It is written, but not synced to disk, before the recorded action happens.
  /// - Parameter known: a record that was verified or written before. If the file still ends with
  ///   the same bytes, their signature is not verified again.
  /// - Throws: ``CredentialError/rolledBack(generation:seen:)`` if the log records that the role
  ///   has seen a newer state of the store than `generation`.
  static func append(
    _ verb: AuditRecord.Verb, _ outcome: AuditRecord.Outcome, _ name: CredentialName?,
    generation: UInt64, to file: inout RecordFile, keys: borrowing RoleKeys, path: String,
    known: Last?
  ) throws(CredentialError) -> Last {
    let last = try lastRecord(of: file, key: keys.signing.publicKey, path, known: known)
    if verb != .acceptRestore { try require(generation, notOlderThan: last) }
    let record = AuditRecord(
      sequence: (last?.record.sequence ?? 0) + 1, atNs: wallNowNs(),
      processID: currentProcessID(), uid: currentUserID(), verb: verb, outcome: outcome,
      generation: generation, name: name)
    let bytes = record.bytes(after: last?.hash ?? firstHash, signing: keys.signing)
    do { try file.append(bytes) } catch { throw CredentialError(error) }
    return Last(record: record, hash: Sodium.hash(bytes))
  }

  /// Refuses a state of the store that is older than one that the role has seen.
  static func requireNewest(
    _ generation: UInt64, in file: borrowing RecordFile, key: [UInt8], path: String, known: Last?
  ) throws(CredentialError) {
    try require(generation, notOlderThan: try lastRecord(of: file, key: key, path, known: known))
  }

  private static func require(
    _ generation: UInt64, notOlderThan last: Last?
  ) throws(CredentialError) {
    guard let seen = last?.record.generation, seen > generation else { return }
    throw .rolledBack(generation: generation, seen: seen)
  }

  /// All records. Each is verified against the one before it.
  static func verified(
    _ file: borrowing RecordFile, key: [UInt8], path: String
  ) throws(CredentialError) -> [AuditRecord] {
    var records: [AuditRecord] = []
    var previous = firstHash
    for index in 0..<file.count {
      let read = try verified(
        try bytes(index, of: file), index, after: previous, key: key, path)
      guard read.record.sequence == UInt64(index) + 1 else {
        throw .tampered("\(path), record \(index + 1)")
      }
      records.append(read.record)
      previous = read.hash
    }
    return records
  }

  /// The hash in the first record, which has no predecessor.
  private static let firstHash: [UInt8] = Array(repeating: 0, count: Sodium.hashBytes)

  private static func lastRecord(
    of file: borrowing RecordFile, key: [UInt8], _ path: String, known: Last?
  ) throws(CredentialError) -> Last? {
    if file.count == 0 { return nil }
    let bytes = try bytes(file.count - 1, of: file)
    let last: Last
    if let known, Sodium.hash(bytes) == known.hash {
      last = known
    } else {
      last = try verified(bytes, file.count - 1, after: nil, key: key, path)
    }
    guard last.record.sequence == UInt64(file.count) else { throw .tampered(path) }
    return last
  }

  private static func bytes(
    _ index: Int, of file: borrowing RecordFile
  ) throws(CredentialError) -> [UInt8] {
    do { return try file.record(index) } catch { throw CredentialError(error) }
  }

  private static func verified(
    _ bytes: [UInt8], _ index: Int, after previous: [UInt8]?, key: [UInt8], _ path: String
  ) throws(CredentialError) -> Last {
    do {
      let record = try AuditRecord(parsing: bytes, after: previous, key: key)
      return Last(record: record, hash: Sodium.hash(bytes))
    } catch {
      throw error == .newer ? .newerVersion(path: path) : .tampered("\(path), record \(index + 1)")
    }
  }
}
