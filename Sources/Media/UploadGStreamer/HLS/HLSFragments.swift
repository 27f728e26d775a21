#if Media
  import Platform
  import Upload

  /// Collects encoded pictures and sound, and writes them as segments of fragmented MP4.
  ///
  /// `@unchecked Sendable` because GStreamer calls it with the lock of one pad while a pipeline
  /// runs, and the uploading thread before and after.
  final class HLSFragments: TapReceiver, @unchecked Sendable {
    /// How long a segment waits for sound of its time.
    private static let mostSoundDelayNs: UInt64 = 1_000_000_000

    /// What has arrived of one encoder, and is in no segment yet.
    private struct Medium {
      var track: MP4Track?
      var samples: [MP4Sample] = []
      var newestNs: UInt64 = 0
      /// Pictures in a second; nil if that varies.
      var rate: Double?

      mutating func append(_ sample: MP4Sample) {
        samples.append(sample)
        newestNs = max(newestNs, sample.timeNs)
      }

      /// The samples before a time; all without one.
      mutating func take(before endNs: UInt64?) -> ArraySlice<MP4Sample> {
        let count = endNs.flatMap { end in samples.firstIndex { $0.timeNs >= end } }
        defer { samples.removeFirst(count ?? samples.count) }
        return samples.prefix(count ?? samples.count)
      }
    }

    private let segments: HLSSegments
    private let intervalNs: UInt64
    /// One for each rendition; empty for sound alone.
    private var pictures: [Medium] = []
    private var sound = Medium()
    /// The size of the second rendition's pictures.
    private var smallSize: (width: Int, height: Int)?
    /// Where segments begin: that of the oldest samples first.
    private var cuts: [UInt64] = []
    /// The newest initialization sections: their number, and the tracks of each rendition.
    private var map: (number: UInt64, tracks: [[MP4Track]])?

    /// - Parameter intervalNs: between the beginnings of segments of sound alone.
    init(_ segments: HLSSegments, every intervalNs: UInt64) {
      self.segments = segments
      self.intervalNs = intervalNs
    }

    /// Called before a pipeline starts.
    func begin(hasPictures: Bool, smallSize: (width: Int, height: Int)?) {
      self.smallSize = smallSize
      pictures = Array(repeating: Medium(), count: hasPictures ? segments.files.count : 0)
      sound = Medium()
    }

    // MARK: Data

    func take(_ unit: TappedUnit) throws(SystemError) {
      let format = unit.format
      // A unit without a format cannot be decoded.
      if format.isEmpty { return }
      try take(
        MP4Sample(timeNs: unit.ptsNs, isKey: unit.isKey, bytes: unit.bytes),
        of: unit.isSound
          ? MP4Track(ofSound: format)
          : MP4Track(width: unit.width, height: unit.height, configuration: format),
        rate: unit.picturesPerSecond, begins: unit.beginsSegment)
    }

    private func take(_ sample: MP4Sample, of track: MP4Track, rate: Double?, begins: Bool)
      throws(SystemError)
    {
      if track.isSound {
        sound.track = track
        sound.append(sample)
        let dueNs = cuts.last.map { $0 + intervalNs } ?? sample.timeNs
        if pictures.isEmpty, sample.timeNs >= dueNs { cuts.append(sample.timeNs) }
      } else {
        let index = smallSize.map { $0 == track.size } == true ? 1 : 0
        guard pictures.indices.contains(index) else { return }
        // What precedes the first beginning of a segment is in none.
        if cuts.isEmpty, index == 0, !begins { return }
        pictures[index].track = track
        pictures[index].rate = rate
        pictures[index].append(sample)
        if index == 0, begins { cuts.append(sample.timeNs) }
      }
      while cuts.count > 1, hasAll(before: cuts[1]) { try write(before: cuts[1]) }
    }

    private func hasAll(before endNs: UInt64) -> Bool {
      guard pictures.allSatisfy({ $0.newestNs >= endNs }) else { return false }
      if sound.track == nil || sound.newestNs >= endNs { return true }
      return pictures.contains { $0.newestNs > endNs + Self.mostSoundDelayNs }
    }

    /// Writes what remains. What follows has other formats.
    func endPart() throws(SystemError) {
      while !cuts.isEmpty { try write(before: cuts.count > 1 ? cuts[1] : nil) }
      if map != nil { segments.discontinue() }
      (cuts, map) = ([], nil)
    }

    // MARK: Segments

    /// Writes the oldest segment.
    /// - Parameter nextNs: when the next one begins; nil at the end.
    private func write(before nextNs: UInt64?) throws(SystemError) {
      let startNs = cuts.removeFirst()
      let shown = pictures.indices.map { index in
        pictures[index].take(before: nextNs).drop { $0.timeNs < startNs }
      }
      let isFirst = map == nil
      let heard = sound.take(before: nextNs).drop { isFirst && $0.timeNs < startNs }
      let leading = shown.first ?? heard
      guard let newest = leading.last else { return }
      let before = leading.dropLast().last?.timeNs ?? newest.timeNs
      let span = HLSSpan(
        from: startNs, newestNs: newest.timeNs, stepNs: newest.timeNs - before, nextNs: nextNs)
      let heardInSpan = span.hasPause ? heard.prefix { $0.timeNs < span.endNs } : heard
      let number = try segments.reserve()
      let mapNumber = try initialize(for: number)
      var contents: [HLSVariants.Content] = []
      for (index, files) in segments.files.enumerated() {
        let runs = runs(
          shown.indices.contains(index) ? shown[index] : [], heardInSpan, index, until: span.endNs)
        let bytes = FragmentedMP4.fragment(number + 1, runs)
        try segments.write(bytes, to: files.segment(number))
        contents.append(
          HLSVariants.Content(
            byteCount: bytes.count, tracks: runs.map(\.track),
            rate: pictures.indices.contains(index) ? pictures[index].rate : nil))
      }
      try segments.complete(number, map: mapNumber, span, contents)
    }

    private func runs(
      _ shown: ArraySlice<MP4Sample>, _ heard: ArraySlice<MP4Sample>, _ rendition: Int,
      until endNs: UInt64
    ) -> [MP4Run] {
      tracks(of: rendition).map { track in
        if !track.isSound { return MP4Run(track: track, samples: shown, endNs: endNs) }
        let soundEndNs = (heard.last?.timeNs ?? 0) + track.lastStepNs
        return MP4Run(track: track, samples: heard, endNs: soundEndNs)
      }
    }

    private func tracks(of rendition: Int) -> [MP4Track] {
      let picture = pictures.indices.contains(rendition) ? pictures[rendition].track : nil
      return [picture, sound.track].compactMap(\.self)
    }

    /// The initialization sections for the tracks that there are now. Players need a discontinuity
    /// before new ones.
    private func initialize(for number: UInt64) throws(SystemError) -> UInt64 {
      let present = segments.files.indices.map { tracks(of: $0) }
      if let map, map.tracks == present { return map.number }
      if map != nil { segments.discontinue() }
      for (files, tracks) in zip(segments.files, present) {
        try segments.write(FragmentedMP4.initialization(tracks), to: files.map(number))
      }
      map = (number, present)
      return number
    }
  }
#endif
