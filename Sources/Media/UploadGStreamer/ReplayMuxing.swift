#if Media
  import CGStreamer
  import Platform
  import Replay
  import Upload

  /// Puts the units of a replay into a container, without encoding them again.
  public struct ReplayFileWriter {
    private let path: String
    private let file: OutputFile
    private let container: FileContainer

    /// - Parameter path: ends in .mkv or .mp4.
    public init(path: String) throws(DestinationError) {
      self.path = path
      file = OutputFile(path)
      container = try FileContainer(path: path)
      do throws(SystemError) { try file.checkWritable() } catch { throw .cannotWrite(error) }
    }

    /// Writes the file, whose first unit is at 0. An existing file is replaced.
    /// - Parameter units: those of `ReplayReader.units`.
    package func write(_ units: [ReplayUnit]) throws(DestinationError) {
      let existedBefore = file.exists
      let lock = try file.lockedForUpload()
      do throws(DestinationError) {
        try mux(units)
      } catch {
        if !existedBefore { try? file.remove() }
        throw error
      }
      _ = lock.number
    }

    private func mux(_ units: [ReplayUnit]) throws(DestinationError) {
      let hasPictures = units.contains { $0.kind == .picture }
      let hasSound = units.contains { $0.kind == .sound }
      let ending = [container.muxer, .writeFile(path)]
      let pictures = [TransportStream.parser, .waitForOtherTrack] + ending
      let sound = [Self.soundParser, .waitForOtherTrack]
      try GStreamerRuntime.require([.source] + pictures + sound)
      let pipeline =
        hasPictures
        ? try Pipeline(pictures, sound: hasSound ? sound : [], output: path)
        : try Pipeline([Self.soundParser] + ending, output: path)
      if hasPictures { try pipeline.setCaps(Self.pictureCaps) }
      if hasSound { try pipeline.setSoundCaps(Self.soundCaps) }
      try pipeline.play()
      let beginsNs = units.first { $0.kind == .picture || !hasPictures }?.ptsNs ?? 0
      for unit in units { try pipeline.push(unit, before: beginsNs) }
      try pipeline.finish()
    }

    private static let pictureCaps = "video/x-h264,stream-format=byte-stream,alignment=au"
    /// What `SoundEncoder.aac` produces. The codec data is the AudioSpecificConfig of AAC-LC with
    /// two channels at 48 kHz (ISO/IEC 14496-3, 1.6.2.1).
    private static let soundCaps =
      "audio/mpeg,mpegversion=4,stream-format=raw,framed=true,rate=48000,channels=2,"
      + "codec_data=(buffer)1190"
    private static let soundParser = ElementDescription(
      factory: "aacparse", package: "gstreamer1.0-plugins-good")
  }

  extension Pipeline {
    /// Queues a copy of an encoded unit, on a timeline that begins at `beginsNs`.
    fileprivate func push(_ unit: ReplayUnit, before beginsNs: UInt64) throws(DestinationError) {
      var description = unsafe upload_unit()
      unsafe description.isSound = unit.kind == .sound
      unsafe description.isKey = unit.isKey
      unsafe description.ptsNs = unit.ptsNs > beginsNs ? unit.ptsNs - beginsNs : 0
      unsafe description.dtsNs = unit.dtsNs > beginsNs ? unit.dtsNs - beginsNs : 0
      unsafe description.durationNs = unit.durationNs
      // SAFETY: the pipeline exists until `stop`, and copies the bytes during the call.
      let isTaken = unsafe unit.bytes.withUnsafeBytes { bytes in
        unsafe description.bytes = bytes.baseAddress
        unsafe description.byteCount = bytes.count
        return unsafe upload_pipeline_push_unit(handle, &description)
      }
      if isTaken { return }
      throw .elementFailed(element: "appsrc", message: "it accepts no more data", detail: "")
    }
  }
#endif
