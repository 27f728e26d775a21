import AppGroup
import Platform

/// What the bridge has sent and delivered, in a mapped file, so that it survives the bridge's
/// death: posts are then neither lost nor delivered again. It lies in the run directory, because
/// the counts of notifications do not survive a reboot either.
///
/// A record is a key and three words. The key is a hash of a notification's name, or of a name and
/// the machine that it comes from. Each word is stored by itself, so no order of them may matter to
/// a bridge that finds them after a kill.
struct NoteLedger: ~Copyable, Sendable {
  private static let fileName = "notes"
  private static let recordBytes = 32
  private static let recordCount = 32768
  /// A record is sought this far from where its key points.
  private static let searchedRecords = 32

  private let memory: GuardedMapping

  init(in directory: borrowing Directory) throws(SystemError) {
    let byteCount = Self.recordBytes * Self.recordCount
    if let status = try directory.status(of: Self.fileName),
      status.kind != .file || status.byteCount != byteCount || status.ownerID != currentUserID()
    {
      try directory.removeFile(Self.fileName)
    }
    if try directory.status(of: Self.fileName) == nil {
      // Allocated, so that no later store runs out of memory. Complete when it gets its name.
      let temporary = ".new-" + Self.fileName
      try directory.removeFile(temporary)
      _ = try directory.makeFile(temporary, byteCount: byteCount, mode: 0o600)
      try directory.rename(temporary, to: Self.fileName, replacing: true)
    }
    memory = try GuardedMapping(directory.openForInspection(Self.fileName), byteCount: byteCount)
  }

  /// A record's index.
  struct Place: Hashable, Sendable { fileprivate let offset: Int }

  enum Word: Int {
    case first = 8
    case second = 16
    case third = 24
  }

  /// Keys have a fixed parity, by which a record can be given to another machine's note but never
  /// to take the place of a local name.
  static func key(of name: String) -> UInt64 { hash(name, from: 0) | 1 }

  /// Of the record about a name's state. No name has a zero byte.
  static func stateKey(of name: String) -> UInt64 { key(of: name + "\0") }

  static func key(of name: String, from machineID: UInt64) -> UInt64 {
    max(2, hash(name, from: machineID) & ~1)
  }

  private static func hash(_ text: String, from seed: UInt64) -> UInt64 {
    var hash = 0xcbf2_9ce4_8422_2325 ^ (seed &* 0x9e37_79b9_7f4a_7c15)
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }

  /// The record of a key, made if missing. If there is no room, it takes the place of another
  /// machine's, whose next note may then be delivered twice.
  borrowing func place(of key: UInt64) -> Place {
    var last = 0
    for step in 0..<Self.searchedRecords {
      let index = (Int(truncatingIfNeeded: key >> 1) &+ step) & (Self.recordCount - 1)
      let offset = index * Self.recordBytes
      // SYNC ledger/own: only the bridge, which holds its lock, reads and writes the file.
      let found = memory.loadAcquiring64(at: offset)
      if found == key { return Place(offset: offset) }
      if found == 0 {
        // SYNC ledger/own: as above.
        memory.storeReleasing64(key, at: offset)
        return Place(offset: offset)
      }
      if found & 1 == 0 { last = offset }
    }
    for word in [Word.first, .second, .third] { set(0, word, at: Place(offset: last)) }
    // SYNC ledger/own: as above.
    memory.storeReleasing64(key, at: last)
    return Place(offset: last)
  }

  borrowing func get(_ word: Word, at place: Place) -> UInt64 {
    // SYNC ledger/own: as above.
    memory.loadAcquiring64(at: place.offset + word.rawValue)
  }

  borrowing func set(_ value: UInt64, _ word: Word, at place: Place) {
    // SYNC ledger/own: as above.
    memory.storeReleasing64(value, at: place.offset + word.rawValue)
  }
}
