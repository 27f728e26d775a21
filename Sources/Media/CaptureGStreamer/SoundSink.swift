#if Media
  import CGStreamer
  import CGStreamerSystem
  import Capture
  import FrameBus
  import Platform
  import Sound

  /// The sink of a running sound pipeline, and the ring that its thread puts pieces into
  /// (CSoundSink.h). Confined to one thread; ends the pipeline's threads when destroyed.
  @safe struct SoundSink: ~Copyable {
    /// The result of a wait.
    enum Item {
      case sound([Float], ptsNs: Int64)
      /// The stream's format, before its first sound and whenever it changes.
      case format(AudioFormat)
      case ended
      case nothing
    }

    private let pipeline: CapturePipeline
    private let isLive: Bool
    /// SAFETY: both live until deinit, which alone frees them.
    @unsafe private let sink: OpaquePointer
    @unsafe private let ring: OpaquePointer
    private var converter = SoundConverter()
    private var formatNumber: UInt32 = 0
    private var format: FrameFormat?

    /// - Parameters:
    ///   - pipeline: not running yet, with an element of that name.
    ///   - isLive: sound is stamped by the monotonic clock and dropped if the ring is full; this is
    ///     the pipeline's only sink, and reports its failures. Otherwise the pipeline waits.
    init(_ pipeline: CapturePipeline, element: String, isLive: Bool) throws(PipelineError) {
      // SAFETY: the string is read during the call; what comes back is checked.
      guard let sink = unsafe fb_sound_sink_new(pipeline.element, element, isLive),
        let ring = unsafe fb_sound_sink_ring(sink)
      else { throw .badDescription(reason: "no element is called “\(element)”") }
      self.pipeline = pipeline
      self.isLive = isLive
      unsafe self.sink = sink
      unsafe self.ring = ring
    }

    deinit {
      unsafe fb_sound_sink_flush(sink)
      pipeline.stop()
      unsafe fb_sound_sink_free(sink)
    }

    /// From now on the pipeline does not wait for this sink, and its sound is dropped.
    func flush() { unsafe fb_sound_sink_flush(sink) }

    func play() throws(PipelineError) { try pipeline.play() }

    /// Pieces dropped because the ring was full.
    var lostCount: UInt64 { unsafe fb_sound_ring_lost(ring) }

    /// Waits for sound until the deadline, or until `stop` is raised.
    mutating func next(until deadline: Deadline, stop: StopSignal) throws(PipelineError) -> Item {
      unsafe fb_sound_ring_lower(ring)
      // Read before the ring: everything before the end is then in the ring.
      let hasEnded = unsafe fb_sound_sink_has_ended(sink)
      if let item = try poll() { return item }
      if isLive { try pipeline.throwFailure(framesOut: 0) }
      if hasEnded { return .ended }
      do throws(SystemError) {
        _ = try firstReadable(
          stop.descriptorNumber, unsafe fb_sound_ring_descriptor(ring),
          isLive ? pipeline.descriptorNumber : stop.descriptorNumber, until: deadline)
      } catch {
        throw .system(error)
      }
      return try poll() ?? .nothing
    }

    /// Readable when `poll` may have an item.
    var descriptorNumber: Int32 { unsafe fb_sound_ring_descriptor(ring) }

    /// The next item that has arrived, without waiting; resets the descriptor first.
    mutating func arrived() throws(PipelineError) -> Item? {
      unsafe fb_sound_ring_lower(ring)
      return try poll()
    }

    private mutating func poll() throws(PipelineError) -> Item? {
      var piece = fb_sound_piece()
      guard unsafe fb_sound_ring_peek(ring, &piece) else { return nil }
      if piece.format != formatNumber {
        formatNumber = piece.format
        return .format(try adopt(piece.format))
      }
      guard let format else { return nil }
      var bytes = [UInt8](repeating: 0, count: Int(piece.byteCount))
      unsafe bytes.withUnsafeMutableBytes { unsafe fb_sound_ring_take(ring, $0.baseAddress) }
      do throws(SoundConverter.Refusal) {
        // SAFETY: the array outlives the call.
        let samples = try unsafe converter.convert(bytes.span.bytes, of: format)
        return .sound(samples, ptsNs: piece.ptsNs)
      } catch {
        throw .unsupportedFormat("\(error)")
      }
    }

    private mutating func adopt(_ number: UInt32) throws(PipelineError) -> AudioFormat {
      var found = fb_sound_format()
      guard unsafe fb_sound_sink_format(sink, number, &found),
        let samples = SoundFormat.known.first(where: { $0.format == found.format })?.samples
      else {
        throw .unsupportedFormat("\(pipeline.name) ends in samples that cannot be published")
      }
      do throws(FrameFormatError) {
        let audio = try AudioFormat(
          samples, sampleRate: Int(found.rate), channelCount: Int(found.channels),
          channelMask: found.channelMask == 0 ? nil : ChannelMask(rawValue: found.channelMask),
          isInterleaved: found.isInterleaved)
        format = try .audio(.appAudio, audio, maximumSampleFrameCount: 1 << 16)
        return audio
      } catch {
        throw .publishing(.format(error))
      }
    }
  }

  /// The sample formats that a pipeline may end in, by GStreamer's names and by ours.
  enum SoundFormat {
    static let known: [(name: String, format: GstAudioFormat, samples: SampleFormat)] = [
      ("S16LE", GST_AUDIO_FORMAT_S16LE, .s16le), ("S16BE", GST_AUDIO_FORMAT_S16BE, .s16be),
      ("F32LE", GST_AUDIO_FORMAT_F32LE, .f32le), ("F32BE", GST_AUDIO_FORMAT_F32BE, .f32be),
      ("S32LE", GST_AUDIO_FORMAT_S32LE, .s32le), ("S32BE", GST_AUDIO_FORMAT_S32BE, .s32be),
      ("S24LE", GST_AUDIO_FORMAT_S24LE, .s24le), ("S24BE", GST_AUDIO_FORMAT_S24BE, .s24be),
      ("S24_32LE", GST_AUDIO_FORMAT_S24_32LE, .s24in32le),
      ("S24_32BE", GST_AUDIO_FORMAT_S24_32BE, .s24in32be),
      ("U8", GST_AUDIO_FORMAT_U8, .u8), ("S8", GST_AUDIO_FORMAT_S8, .s8),
      ("F64LE", GST_AUDIO_FORMAT_F64LE, .f64le), ("F64BE", GST_AUDIO_FORMAT_F64BE, .f64be),
    ]

    static var caps: String {
      "audio/x-raw,format={" + known.map(\.name).joined(separator: ",") + "}"
    }
  }
#endif
