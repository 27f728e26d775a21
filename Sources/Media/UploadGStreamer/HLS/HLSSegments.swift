#if Media
  import Platform
  import Synchronization

  /// The time of a segment, on the upload's time line.
  struct HLSSpan {
    /// The longest segment that the target duration allows, once rounded.
    private static let longestNs: UInt64 =
      UInt64(HLSPlaylist.targetSeconds) * 1_000_000_000
      + 490_000_000
    /// The duration of a segment's only picture.
    private static let assumedStepNs: UInt64 = 33_000_000

    let startNs: UInt64
    let endNs: UInt64
    /// Whether the time stamps jump after it: a pause belongs to no segment.
    let hasPause: Bool

    /// - Parameters:
    ///   - newestNs: the time stamp of its last sample.
    ///   - stepNs: the time between its last two; 0 if there is one alone.
    ///   - nextNs: the first time stamp after it; nil at the end.
    init(from startNs: UInt64, newestNs: UInt64, stepNs: UInt64, nextNs: UInt64?) {
      self.startNs = startNs
      let ownEndNs = newestNs + (stepNs > 0 ? stepNs : Self.assumedStepNs)
      let untilNs = nextNs.map { $0 > startNs ? $0 : ownEndNs } ?? ownEndNs
      hasPause = untilNs - startNs > Self.longestNs
      endNs = hasPause ? ownEndNs : untilNs
    }

    var seconds: Double { Double(endNs - startNs) / 1e9 }
  }

  /// The wall clock's time of a time stamp. The uploading thread writes it, GStreamer's reads it.
  final class HLSClock: Sendable {
    private let offset = Mutex<UInt64?>(nil)

    /// Added to a time stamp, it gives the time of the wall clock; nil before the first picture.
    var offsetNs: UInt64? { offset.withLock { $0 } }
    func set(ptsNs: UInt64, wallNs: UInt64) { offset.withLock { $0 = wallNs &- ptsNs } }
  }

  /// The segments of an upload in a directory, and their playlists. Removes those that no player
  /// needs, and no file that it cannot prove to be an upload's.
  ///
  /// Not thread-safe: GStreamer's thread calls it while a pipeline runs, and the uploading thread
  /// before and after.
  final class HLSSegments {
    /// The names of the files that uploads have made in the directory, and not removed.
    private static let record = ".framebus.segments"
    /// The age at which the players of a playlist have given up.
    private static let stalePlaylistNs: Int64 = 60_000_000_000
    private static let textLimit = 1 << 16
    private static let nameLimit = 100_000

    let files: [HLSFiles]
    private let directory: Directory
    private let clock: HLSClock
    private var playlist = HLSPlaylist()
    private var nextNumber: UInt64 = 0
    private var owned: Set<String> = []
    /// Left the playlist, but players may still load them.
    private var former: [HLSPlaylist.Segment] = []
    private var isDiscontinuous = false
    private var variants: HLSVariants?
    /// The permissions of the playlist: those of a segment.
    private var fileMode: UInt32 = 0o600
    private var wallOffsetNs: UInt64?

    /// Continues the directory's playlist after a crash. After a complete playlist, or one that its
    /// players have given up, the numbers alone continue.
    init(
      in path: String, _ files: [HLSFiles], _ clock: HLSClock, _ variants: HLSVariants? = nil
    ) throws(SystemError) {
      self.files = files
      self.clock = clock
      self.variants = variants
      directory = try Directory(path: path)
      var found = Set(try directory.names(atMost: Self.nameLimit))
      owned = readRecord().intersection(found)
      let old = readPlaylist()
      if let old, !old.isStale, !old.playlist.isEnded, let last = old.playlist.segments.last {
        playlist = old.playlist
        isDiscontinuous = true
        // The last was not complete when its writer died, and no playlist names it.
        for name in owned where HLSFiles.number(ofFile: name) ?? 0 > last.number {
          try remove(name)
          found.remove(name)
        }
        nextNumber = Self.number(after: found)
      } else {
        nextNumber = Self.number(after: found)
        playlist = HLSPlaylist(
          sequence: max(nextNumber, old?.playlist.nextSequence ?? 0),
          discontinuityNumber: old.map { $0.playlist.nextDiscontinuityNumber + 1 } ?? 0)
      }
      former = formerSegments()
    }

    /// The first number after those of the files.
    private static func number(after names: Set<String>) -> UInt64 {
      names.compactMap(HLSFiles.number(ofFile:)).max().map { $0 + 1 } ?? 0
    }

    private func readRecord() -> Set<String> {
      guard let found = try? directory.readFile(Self.record, limit: Self.textLimit) else {
        return []
      }
      let text = String(decoding: found.bytes, as: UTF8.self)
      return Set(text.split(separator: "\n").map(String.init))
        .filter { HLSFiles.number(ofFile: $0) != nil }
    }

    /// The playlist of an earlier upload with all its files.
    private func readPlaylist() -> (playlist: HLSPlaylist, isStale: Bool)? {
      guard
        let found = try? directory.readFile(files[0].playlist, limit: Self.textLimit),
        let playlist = HLSPlaylist(String(decoding: found.bytes, as: UTF8.self), files[0]),
        playlist.segments.allSatisfy({ owned.isSuperset(of: names(of: $0)) })
      else { return nil }
      let ageNs = Int64(clamping: wallNowNs()) &- found.status.changedAtNs
      return (playlist, !(0...Self.stalePlaylistNs).contains(ageNs))
    }

    private func names(of segment: HLSPlaylist.Segment) -> [String] {
      files.flatMap { files in
        [files.segment(segment.number)] + (segment.map.map { [files.map($0)] } ?? [])
      }
    }

    /// What earlier uploads have left beside the playlist.
    private func formerSegments() -> [HLSPlaylist.Segment] {
      let named = Set(playlist.segments.flatMap(names(of:)))
      let numbers = Set(owned.subtracting(named).compactMap(HLSFiles.number(ofFile:))).sorted()
      let maps = numbers.filter { owned.contains(files[0].map($0)) }
      return numbers.filter { number in !playlist.segments.contains { $0.number == number } }
        .map { number in
          HLSPlaylist.Segment(number: number, seconds: 2, map: maps.last { $0 <= number })
        }
    }

    // MARK: Files

    /// A number whose names no entry of the directory has, not even another program's link.
    func reserve() throws(SystemError) -> UInt64 {
      while try isTaken(nextNumber) { nextNumber += 1 }
      nextNumber += 1
      return nextNumber - 1
    }

    private func isTaken(_ number: UInt64) throws(SystemError) -> Bool {
      for name in names(of: HLSPlaylist.Segment(number: number, seconds: 0, map: number)) {
        if try directory.status(of: name) != nil { return true }
      }
      return false
    }

    /// Creates a file with the permissions that the umask allows, as a web server expects. Before
    /// that, it is recorded as the upload's.
    func create(_ name: String) throws(SystemError) -> Descriptor {
      owned.insert(name)
      try writeRecord()
      do throws(SystemError) {
        let file = try directory.createFile(name, mode: 0o666)
        fileMode = try fileStatus(of: file, path: directory.path).mode & 0o777
        return file
      } catch {
        owned.remove(name)
        throw error
      }
    }

    func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
      let file = try create(name)
      try writeFully(bytes, to: file.number)
    }

    private func writeRecord() throws(SystemError) {
      let text = owned.sorted().map { $0 + "\n" }.joined()
      try directory.replaceFile(
        Self.record, with: Array(text.utf8), mode: 0o600, isSynced: false)
    }

    private func remove(_ name: String) throws(SystemError) {
      guard owned.contains(name) else { return }
      try directory.removeFile(name)
      owned.remove(name)
    }

    // MARK: Playlist

    /// The next segment has time stamps or an encoding of its own.
    func discontinue() { isDiscontinuous = !playlist.segments.isEmpty }

    /// Adds a segment, whose files are complete, to the playlist.
    /// - Parameter contents: of its file in each rendition.
    func complete(
      _ number: UInt64, map: UInt64? = nil, _ span: HLSSpan, _ contents: [HLSVariants.Content] = []
    ) throws(SystemError) {
      if isDiscontinuous || wallOffsetNs == nil {
        wallOffsetNs = clock.offsetNs ?? wallNowNs() &- span.endNs
      }
      let segment = HLSPlaylist.Segment(
        number: number, seconds: span.seconds,
        date: wallOffsetNs.map { HLSPlaylist.date(wallNs: span.startNs &+ $0) },
        isDiscontinuous: isDiscontinuous, map: map)
      isDiscontinuous = span.hasPause
      former += playlist.append(segment)
      try writePlaylists()
      // The peak is that of the durations that the playlist states.
      let seconds = (span.seconds * 1000).rounded() / 1000
      if variants?.add(contents, seconds: seconds) == true { try writeVariants() }
      try removeFormer()
    }

    /// Ends the playlist.
    func close() throws(SystemError) {
      if playlist.segments.isEmpty { return }
      playlist.isEnded = true
      try writePlaylists()
      variants?.end()
      try writeVariants()
    }

    private func writePlaylists() throws(SystemError) {
      for files in files.reversed() { try replace(files.playlist, with: playlist.text(files)) }
    }

    private func writeVariants() throws(SystemError) {
      guard let variants else { return }
      try replace(HLSFiles.index, with: variants.text(files.map(\.playlist)))
    }

    private func replace(_ name: String, with text: String) throws(SystemError) {
      try directory.replaceFile(name, with: Array(text.utf8), mode: fileMode, isSynced: false)
    }

    /// A segment stays for its own duration and that of a playlist after it has left (RFC 8216,
    /// section 6.2.2). As much time has passed as the segments that left later take.
    private func removeFormer() throws(SystemError) {
      var later = former.reduce(0) { $0 + $1.seconds }
      let count =
        former.firstIndex { oldest in
          later -= oldest.seconds
          return later <= oldest.seconds + playlist.seconds
        } ?? 0
      if count == 0 { return }
      let gone = former.prefix(count).flatMap(names(of:))
      former.removeFirst(count)
      // An initialization section is that of several segments.
      let needed = Set((former + playlist.segments).flatMap(names(of:)))
      for name in gone where !needed.contains(name) { try remove(name) }
      try writeRecord()
    }
  }
#endif
