import Platform

/// A process's view of a suite: its values at the last check, and the file they came from. Checking
/// again makes no system call while nothing has changed.
struct SuiteView {
  private(set) var image = SuiteImage()
  /// The suite's file; nil if it does not exist.
  private(set) var file: SuiteFile?
  /// The error of the last check. The values are then those of the check before it.
  private(set) var trouble: DefaultsError?
  /// Whether the journal has, before its end, bytes that are not the next change.
  private var isBroken = false
  /// The change time (ctime) of a malformed file when it was read. It limits the cost of such a
  /// file to one reading, rather than one at each check.
  private var brokenAtNs: Int64 = 0
  /// The end of the last valid change.
  private(set) var end = 0
  private var journalStart = 0
  /// The file's size at the last check.
  private(set) var byteCount = 0

  private var seen = SuiteFile.Extent(word: 0)
  /// The time of the next check of the file's name, even if the file does not change: a user may
  /// have moved or removed it by hand.
  private var nextPollNs: UInt64 = 0
  private static let pollIntervalNs: UInt64 = 100_000_000

  /// Updates the values.
  mutating func update(_ location: borrowing SuiteLocation) {
    if let file, !seen.isRetired, coarseNowNs() < nextPollNs {
      if file.extent == seen || followQuickly(file) { return }
    }
    poll(location)
  }

  /// Reads appended records, without a look at the file's name.
  /// - Returns: false if that does not suffice; nothing is then changed.
  private mutating func followQuickly(_ file: SuiteFile) -> Bool {
    let extent = file.extent
    guard trouble == nil, !isBroken, !extent.isRetired, extent.end > end,
      extent.end <= SuiteFormat.maximumFileBytes, let bytes = try? file.bytes(end..<extent.end)
    else { return false }
    seen = extent
    apply(bytes[...], upTo: extent.end)
    return true
  }

  /// Whether a writer has appended a record that it has yet to publish.
  var isAboutToChange: Bool {
    guard let file, !seen.isRetired, file.extent == seen else { return false }
    return file.byteCount > seen.end
  }

  /// Updates the values, and checks the file's name in any case.
  mutating func poll(_ location: borrowing SuiteLocation) {
    nextPollNs = coarseNowNs() + Self.pollIntervalNs
    do throws(DefaultsError) {
      let entry = try location.status()
      byteCount = entry?.byteCount ?? 0
      if let file, trouble == nil, let entry, file.isThere(entry), !file.isLost,
        try follow(file, changedAtNs: entry.changedAtNs)
      {
        return
      }
      if entry == nil { self = SuiteView() } else { try begin(location) }
      trouble = nil
    } catch {
      trouble = error
    }
  }

  /// Reads a file that was not read before.
  private mutating func begin(_ location: borrowing SuiteLocation) throws(DefaultsError) {
    file = nil
    guard let found = try location.open() else {
      self = SuiteView()
      return
    }
    try read(found)
  }

  /// Reads a file from its beginning.
  private mutating func read(_ found: SuiteFile) throws(DefaultsError) {
    let extent = found.extent
    let bytes = try found.bytes(0..<min(extent.end, SuiteFormat.maximumFileBytes))
    // Stored before the file is checked: a file that is refused is read again when it changes.
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

  /// Reads appended records.
  /// - Returns: false if the file changed in a way that no FrameBus writer causes; the caller then
  ///   reads all of it again.
  private mutating func follow(
    _ file: SuiteFile, changedAtNs: Int64
  ) throws(DefaultsError) -> Bool {
    let extent = file.extent
    if isBroken {
      // A user may have repaired the file in place, as by copying over it. Changes within one tick
      // of the kernel's clock have the same time.
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

  /// Whether the next change must replace the file, because its journal is long or malformed.
  func needsReplacing(forRecordOf recordBytes: Int) -> Bool {
    if isBroken || seen.isRetired || byteCount < end { return true }
    if recordBytes > SuiteFormat.journalBytesKept { return true }
    let snapshotBytes = journalStart - SuiteFormat.headerBytes
    return end + recordBytes - journalStart > max(SuiteFormat.journalBytesKept, snapshotBytes)
  }

  /// Applies a record that this process appended.
  mutating func append(_ record: JournalRecord, byteCount: Int) {
    _ = image.apply(record)
    end += byteCount
    self.byteCount = end
    seen = SuiteFile.Extent(word: UInt64(end))
  }
}
