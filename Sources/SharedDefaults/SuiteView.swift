import Platform

/// What a process knows of a suite: its values as of the last look, and the file they came from. To
/// look again costs no call of the kernel while nothing has changed.
struct SuiteView {
  private(set) var image = SuiteImage()
  /// Nil while there is none.
  private(set) var file: SuiteFile?
  /// Why the last look failed. The values are then those of the look before.
  private(set) var trouble: DefaultsError?
  /// Whether the journal holds something before its end that is no next change.
  private var isBroken = false
  /// When a file that is broken was changed last (ctime), as of when it was read: who writes what
  /// nobody can read costs others one reading, not one at each look.
  private var brokenAtNs: Int64 = 0
  /// Where the last change ends that was understood.
  private(set) var end = 0
  private var journalStart = 0
  /// How many bytes the file had at the last look.
  private(set) var byteCount = 0

  private var seen = SuiteFile.Extent(word: 0)
  /// When the name is looked up again, although the file did not change: somebody may have moved or
  /// removed it by hand.
  private var nextLookNs: UInt64 = 0
  private static let lookEveryNs: UInt64 = 100_000_000

  /// Brings the values up to date.
  mutating func update(_ place: borrowing SuitePlace) {
    if let file, !seen.isRetired, file.extent == seen, coarseNowNs() < nextLookNs { return }
    look(place)
  }

  /// The same, and looks the name up in any case.
  mutating func look(_ place: borrowing SuitePlace) {
    nextLookNs = coarseNowNs() + Self.lookEveryNs
    do throws(DefaultsError) {
      let entry = try place.status()
      byteCount = entry?.byteCount ?? 0
      if let file, trouble == nil, let entry, file.isThere(entry), !file.isLost,
        try follow(file, changedAtNs: entry.changedAtNs)
      {
        return
      }
      if entry == nil { self = SuiteView() } else { try begin(place) }
      trouble = nil
    } catch {
      trouble = error
    }
  }

  /// Reads a file that was not read before.
  private mutating func begin(_ place: borrowing SuitePlace) throws(DefaultsError) {
    file = nil
    guard let found = try place.open() else {
      self = SuiteView()
      return
    }
    try read(found)
  }

  /// Reads a file from its beginning.
  private mutating func read(_ found: SuiteFile) throws(DefaultsError) {
    let extent = found.extent
    let bytes = try found.bytes(0..<min(extent.end, SuiteFormat.maximumFileBytes))
    // Before anything is believed: if it is refused, it is looked at again when it changes.
    file = found
    seen = extent
    do {
      (image, journalStart) = try SuiteImage.parse(bytes)
    } catch {
      throw DefaultsError(error, path: found.path)
    }
    end = journalStart
    isBroken = false
    apply(bytes[journalStart...], upTo: extent.end)
  }

  /// Reads what was appended.
  /// - Returns: false if that is not what a writer of ours does, and all is to be read anew.
  private mutating func follow(
    _ file: SuiteFile, changedAtNs: Int64
  ) throws(DefaultsError) -> Bool {
    let extent = file.extent
    if isBroken {
      // Somebody may have mended it in its place, as by a copy. Changes within one tick of the
      // kernel's clock have one time.
      let isSettled = Int64(clamping: wallNowNs()) &- changedAtNs > 1_000_000_000
      if isSettled, changedAtNs == brokenAtNs, extent == seen { return true }
      try read(file)
      brokenAtNs = isSettled ? changedAtNs : 0
      return true
    }
    if extent == seen { return true }
    guard extent.end >= end, extent.end <= SuiteFormat.maximumFileBytes else { return false }
    let bytes = try file.bytes(end..<extent.end)
    seen = extent
    apply(bytes[...], upTo: extent.end)
    return true
  }

  private mutating func apply(_ journal: ArraySlice<UInt8>, upTo extentEnd: Int) {
    end += image.apply(journal: journal)
    isBroken = end != extentEnd
  }

  /// Whether the next change is to be made by putting a new file in the place of this one: because
  /// its journal is long, or not what our writers leave.
  func needsReplacing(forRecordOf recordBytes: Int) -> Bool {
    if isBroken || seen.isRetired || byteCount < end { return true }
    if recordBytes > SuiteFormat.journalBytesKept { return true }
    let snapshotBytes = journalStart - SuiteFormat.headerBytes
    return end + recordBytes - journalStart > max(SuiteFormat.journalBytesKept, snapshotBytes)
  }

  /// Takes over what this process itself appended.
  mutating func append(_ record: JournalRecord, byteCount: Int) {
    _ = image.apply(record)
    end += byteCount
    self.byteCount = end
    seen = SuiteFile.Extent(word: UInt64(end))
  }
}
