#if Media
  import CGStreamer
  import Synchronization
  import Upload

  /// A destination that can also be fed with what an encoder has encoded for several.
  protocol UnitDestination: Destination {
    /// The formats of sound that it takes, the preferred one first.
    var soundEncoders: [SoundEncoder] { get }
    /// Whether it cannot take what is encoded for several.
    var needsOwnEncoder: Bool { get }
    /// The time between key frames that it needs at most.
    var keyFrameNs: UInt64 { get }
    /// Whether units may wait until there are several.
    var takesBatches: Bool { get }
    /// Whether sound need not wait for pictures, as it has to in a file or a stream of a muxer.
    var soundMayOvertake: Bool { get }
    /// Whether only a key frame can begin it, or its next connection.
    var needsKeyFrame: Bool { get }
    /// Whether its output has accepted data, and a peer is connected.
    var isDelivering: Bool { get }
    /// Called before `prepare` by the owner of the encoder: units follow, and no frames.
    /// - Parameter sound: the format of the units of sound, one that it takes.
    func share(_ demand: EncoderDemand, sound: SoundEncoder)
    /// Takes a unit, the first of which is a key frame, or sound if there are no pictures.
    /// - Parameter ptsNs: since the first unit.
    func accept(_ unit: KeptUnit, ptsNs: UInt64) throws(DestinationError)
  }

  extension UnitDestination {
    var needsOwnEncoder: Bool { false }
    var keyFrameNs: UInt64 { HLSOutlet.segmentNs }
    var takesBatches: Bool { false }
    var soundMayOvertake: Bool { false }
  }

  /// What one destination wants of the encoder that it shares. Any thread may use it.
  final class EncoderDemand: Sendable {
    private struct Values {
      var wantsKeyFrame = false
      var mostBitsPerSecond: Int?
      var wantedBitsPerSecond = 0
      var bitsPerSecond = 0
      var captureClock: CaptureClock?
    }

    private let values = Mutex(Values())

    func wantKeyFrame() { values.withLock { $0.wantsKeyFrame = true } }
    func takeKeyFrameRequest() -> Bool {
      values.withLock { values in
        defer { values.wantsKeyFrame = false }
        return values.wantsKeyFrame
      }
    }

    /// When a picture of the upload's time line was captured.
    func note(_ capturedAtNs: UInt64, ptsNs: UInt64) {
      values.withLock { values in
        var clock = values.captureClock ?? CaptureClock()
        clock.note(capturedAtNs, ptsNs: ptsNs)
        values.captureClock = clock
      }
    }
    /// Added to a time stamp of that line, it gives the time of the wall clock; nil if unknown.
    var wallOffsetNs: UInt64? { values.withLock { $0.captureClock?.wallOffsetNs } }

    /// The bitrate that its network allows; nil for any.
    var mostBitsPerSecond: Int? {
      get { values.withLock { $0.mostBitsPerSecond } }
      set { values.withLock { $0.mostBitsPerSecond = newValue } }
    }
    /// The bitrate of the pictures unless a network allows less.
    var wantedBitsPerSecond: Int {
      get { values.withLock { $0.wantedBitsPerSecond } }
      set { values.withLock { $0.wantedBitsPerSecond = newValue } }
    }
    /// The bitrate that the encoder aims at.
    var bitsPerSecond: Int {
      get { values.withLock { $0.bitsPerSecond } }
      set { values.withLock { $0.bitsPerSecond = newValue } }
    }
  }

  extension Pipeline {
    /// Passes requests for key frames on to the encoder. Before `play`.
    /// - Parameter demand: lives as long as this pipeline.
    func forwardKeyRequests(to demand: EncoderDemand) {
      // SAFETY: the destination that owns both destroys the pipeline before the demand.
      unsafe upload_pipeline_watch_key_requests(
        handle, wantKeyFrame, Unmanaged.passUnretained(demand).toOpaque())
    }
  }

  /// Called by CGStreamer on a thread of a pipeline.
  /// SAFETY: `context` is the `EncoderDemand` of the destination that owns the pipeline.
  private func wantKeyFrame(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<EncoderDemand>.fromOpaque(context).takeUnretainedValue().wantKeyFrame()
  }
#endif
