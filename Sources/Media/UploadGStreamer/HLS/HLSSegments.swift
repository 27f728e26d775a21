#if Media
  import CGStreamer
  import Platform

  /// Writes segments and their playlist into a directory, and removes those that no player needs.
  ///
  /// `@unchecked Sendable` because GStreamer's thread calls it while a pipeline runs, and the
  /// uploading thread before and after.
  final class HLSSegments: @unchecked Sendable {
    /// The longest segment that the target duration allows, once rounded.
    private static let longestNs: UInt64 =
      UInt64(HLSPlaylist.targetSeconds) * 1_000_000_000
      + 490_000_000
    /// The duration of a segment's only picture.
    private static let assumedStepNs: UInt64 = 33_000_000
    /// The age at which the players of a playlist have given up.
    private static let stalePlaylistNs: Int64 = 60_000_000_000
    private static let playlistLimit = 1 << 16
    private static let nameLimit = 100_000

    private struct Growing: ~Copyable {
      let file: Descriptor
      let number: UInt64
      let startNs: UInt64
      var newestNs: UInt64
      /// The time between its two newest samples.
      var stepNs: UInt64
    }

    private let directory: Directory
    private var playlist = HLSPlaylist()
    private var nextNumber: UInt64 = 0
    private var growing: Growing?
    /// Left the playlist, but players may still load them.
    private var former: [HLSPlaylist.Segment] = []
    private var isDiscontinuous = false
    /// The permissions of the playlist: those of a segment.
    private var fileMode: UInt32 = 0o600
    /// Added to a time stamp, it gives the time of the wall clock.
    private var wallOffsetNs: UInt64?

    /// Continues the directory's playlist after a crash. After a complete playlist, or one that its
    /// players have given up, the numbers alone continue.
    init(in path: String) throws(SystemError) {
      directory = try Directory(path: path)
      let found = try directory.names(atMost: Self.nameLimit)
        .compactMap(HLSPlaylist.number(ofSegment:)).sorted()
      let old = readPlaylist()
      nextNumber = max(found.last.map { $0 + 1 } ?? 0, old?.playlist.nextNumber ?? 0)
      guard let old else { return }
      let isComplete = old.playlist.segments.allSatisfy { found.contains($0.number) }
      if isComplete, !old.playlist.isEnded, !old.isStale, let next = old.playlist.nextNumber {
        playlist = old.playlist
        nextNumber = next
        isDiscontinuous = true
        // The last was not complete when its writer died, and no playlist names it.
        for number in found where number >= next { try remove(number) }
      } else {
        playlist = HLSPlaylist(discontinuityNumber: old.playlist.nextDiscontinuityNumber + 1)
      }
      let kept = Set(playlist.segments.map(\.number))
      former = found.filter { $0 < nextNumber && !kept.contains($0) }.map {
        HLSPlaylist.Segment(number: $0, seconds: 2)
      }
    }

    private func readPlaylist() -> (playlist: HLSPlaylist, isStale: Bool)? {
      guard
        let found = try? directory.readFile(HLSPlaylist.name, limit: Self.playlistLimit),
        let playlist = HLSPlaylist(String(decoding: found.bytes, as: UTF8.self))
      else { return nil }
      let ageNs = Int64(clamping: wallNowNs()) &- found.status.changedAtNs
      return (playlist, !(0...Self.stalePlaylistNs).contains(ageNs))
    }

    // MARK: Data

    func take(_ bytes: RawSpan, ptsNs: UInt64, begins: Bool) throws(SystemError) {
      if begins { try begin(at: ptsNs) }
      guard let number = growing?.file.number else { return }
      if let newestNs = growing?.newestNs, ptsNs > newestNs {
        growing?.stepNs = ptsNs - newestNs
        growing?.newestNs = ptsNs
      }
      try writeFully(bytes, to: number, path: directory.path)
    }

    private func begin(at ptsNs: UInt64) throws(SystemError) {
      try complete(before: ptsNs)
      if isDiscontinuous || wallOffsetNs == nil { wallOffsetNs = wallNowNs() &- ptsNs }
      let segment = HLSPlaylist.Segment(number: nextNumber, seconds: 0)
      // Another program's entry of that name, such as a link to a file elsewhere.
      try remove(nextNumber)
      // With the permissions that the umask allows, as a web server expects.
      let file = try directory.createFile(segment.name, mode: 0o666)
      fileMode = try fileStatus(of: file, path: directory.path).mode & 0o777
      growing = Growing(
        file: file, number: nextNumber, startNs: ptsNs, newestNs: ptsNs, stepNs: 0)
      nextNumber += 1
    }

    /// Adds the growing segment to the playlist.
    /// - Parameter nextNs: the first time stamp after it; nil at the end.
    private func complete(before nextNs: UInt64?) throws(SystemError) {
      guard let ended = growing.take() else { return }
      let stepNs = ended.stepNs > 0 ? ended.stepNs : Self.assumedStepNs
      let ownNs = ended.newestNs - ended.startNs + stepNs
      let untilNextNs = nextNs.map { $0 > ended.startNs ? $0 - ended.startNs : ownNs } ?? ownNs
      // A pause belongs to no segment: the time stamps jump.
      let hasPause = untilNextNs > Self.longestNs
      let segment = HLSPlaylist.Segment(
        number: ended.number, seconds: Double(hasPause ? ownNs : untilNextNs) / 1e9,
        date: wallOffsetNs.map { HLSPlaylist.date(wallNs: ended.startNs &+ $0) },
        isDiscontinuous: isDiscontinuous)
      isDiscontinuous = hasPause
      former += playlist.append(segment)
      try writePlaylist()
      try removeFormer()
    }

    /// Ends the segments of one encoder. Those of the next have other tables and sizes.
    func endPart() throws(SystemError) {
      guard growing != nil else { return }
      try complete(before: nil)
      isDiscontinuous = true
    }

    /// Ends the playlist.
    func close() throws(SystemError) {
      if playlist.segments.isEmpty { return }
      playlist.isEnded = true
      try writePlaylist()
    }

    // MARK: Files

    private func writePlaylist() throws(SystemError) {
      try directory.replaceFile(
        HLSPlaylist.name, with: Array(playlist.text.utf8), mode: fileMode, isSynced: false)
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
      for segment in former.prefix(count) { try remove(segment.number) }
      former.removeFirst(count)
    }

    private func remove(_ number: UInt64) throws(SystemError) {
      try directory.removeFile(HLSPlaylist.Segment(number: number, seconds: 0).name)
    }
  }

  extension HLSSegments {
    /// A description for C, which keeps this object until it calls `release`.
    var receiver: upload_unit_receiver {
      unsafe upload_unit_receiver(
        handler: takeUploadUnit, context: Unmanaged.passRetained(self).toOpaque(),
        release: releaseSegments)
    }
  }

  /// Called by CGStreamer on a thread of GStreamer.
  /// SAFETY: `context` is the `HLSSegments` that `receiver` retained; the unit is valid during the
  /// call.
  private func takeUploadUnit(
    _ context: UnsafeMutableRawPointer?, _ unit: UnsafePointer<upload_unit>?
  ) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let segments = unsafe Unmanaged<HLSSegments>.fromOpaque(context).takeUnretainedValue()
    do throws(SystemError) {
      guard let unit = unsafe unit?.pointee else {
        try segments.endPart()
        return 0
      }
      let bytes = unsafe UnsafeRawBufferPointer(start: unit.bytes, count: unit.byteCount)
      try unsafe segments.take(bytes.bytes, ptsNs: unit.ptsNs, begins: unit.beginsSegment)
    } catch {
      return error.code
    }
    return 0
  }

  /// SAFETY: `context` is the object that `receiver` retained for exactly this call.
  private func releaseSegments(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HLSSegments>.fromOpaque(context).release()
  }
#endif
