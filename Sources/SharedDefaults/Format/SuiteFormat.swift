import Platform

/// The constants of docs/design/defaults-journal.md.
enum SuiteFormat {
  static let magic = Array("FBDEFLTS".utf8)
  static let version: UInt32 = 1

  static let headerBytes = 128
  static let atVersion = 8
  static let atChecksum = 12
  /// The checksum covers the bytes from here to `checkedEnd`, and the snapshot.
  static let atSequence = 16
  static let checkedEnd = 32
  /// Words that change while the file is in use.
  static let atExtent = 64
  static let atHolder = 72
  static let atBell = 80

  /// The bit in the extent of a file that is about to be replaced.
  static let retired: UInt64 = 1 << 63

  static let recordHeaderBytes = 16

  /// The largest sequence number of a snapshot. No suite reaches it, and counting from it does not
  /// overflow.
  static let maximumSequence: UInt64 = 1 << 62

  static let maximumKeyBytes = 512
  static let maximumKeys = 65_536
  /// The limit of values in a snapshot or a record, including nested ones.
  static let maximumValues = 262_144
  static let maximumDepth = 32
  static let maximumSnapshotBytes = 4 << 20
  static let maximumRecordBytes = 4 << 20
  static let maximumFileBytes = 16 << 20

  /// A file that is longer is replaced before the next change.
  static let longestFile = maximumFileBytes / 2

  /// A journal that is longer than this and longer than its snapshot is turned into a snapshot.
  static let journalBytesKept = 64 << 10

  /// Whether a text is a valid key: 1…512 bytes without control and format characters, so that a
  /// terminal shows it in one line and unaltered.
  static func isKey(_ text: String) -> Bool {
    (1...maximumKeyBytes).contains(text.utf8.count) && text.isPlain
  }
}
