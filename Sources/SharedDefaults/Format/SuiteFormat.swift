import Platform

/// The constants of docs/design/defaults-journal.md.
enum SuiteFormat {
  static let magic = Array("FBDEFLTS".utf8)
  static let version: UInt32 = 1

  static let headerBytes = 128
  static let atVersion = 8
  static let atChecksum = 12
  /// From here on the checksum is taken, up to `checkedEnd` and over the snapshot.
  static let atSequence = 16
  static let checkedEnd = 32
  /// Words that change while the file is in use.
  static let atExtent = 64
  static let atHolder = 72
  static let atBell = 80

  /// Set in the extent of a file that another is about to take the place of.
  static let retired: UInt64 = 1 << 63

  static let recordHeaderBytes = 16

  /// What a snapshot may begin with: nobody gets so far, and nobody's counting overflows.
  static let maximumSequence: UInt64 = 1 << 62

  static let maximumKeyBytes = 512
  static let maximumKeys = 65_536
  /// Of all values of a snapshot or a record together, those within others too.
  static let maximumValues = 262_144
  static let maximumDepth = 32
  static let maximumSnapshotBytes = 4 << 20
  static let maximumRecordBytes = 4 << 20
  static let maximumFileBytes = 16 << 20

  /// A journal longer than this, and longer than the snapshot before it, becomes a snapshot.
  static let journalBytesKept = 64 << 10

  /// Whether a text can be a key: 1…512 bytes without control and format characters, so that it
  /// can stand in one line of a terminal, and looks like what it is.
  static func isKey(_ text: String) -> Bool {
    (1...maximumKeyBytes).contains(text.utf8.count) && text.isPlain
  }
}
