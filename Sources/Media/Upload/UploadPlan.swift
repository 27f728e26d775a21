import FrameBus
import Sound

/// What to upload, and when to stop.
public struct UploadPlan: Sendable {
  /// The stream of pictures, or of sound alone; then those of sound, which are mixed. A further
  /// stream may come late, go and come back: meanwhile there is silence.
  public var streams: [StreamName]
  /// Nil: every frame where the publisher grants lossless delivery, as for a file; otherwise the
  /// newest, as for a screen.
  public var policy: DeliveryPolicy?
  /// Stops after so many frames; repeated ones are not counted.
  public var frameLimit: Int?
  /// Stops so long after the first frame.
  public var duration: Duration?
  /// Waits for a stream that does not exist yet, instead of failing.
  public var waitsForStream = true
  /// Fails if no frame arrives within that time of attaching.
  public var firstFrameWithin: Duration?
  /// Looks for the flashes of `test:flash` and listens for beeps, and tells how far they are apart.
  public var measuresSkew = false
  /// Between two progress reports.
  public var progressInterval: Duration = .seconds(1)

  public init(stream: StreamName, sound: [StreamName] = []) { streams = [stream] + sound }

  /// The one that the upload is about: it starts with this, and ends with it.
  public var stream: StreamName { streams[0] }
}

/// Why an upload ended.
public enum UploadEnd: Hashable, Sendable {
  /// The number of frames or the time that the plan allows is reached.
  case limitReached
  case stopped
  case publisherFinished
  case publisherFailed
}

/// What a run tells whoever watches it.
public enum UploadReport: Sendable {
  case waitingForStream(StreamName)
  case attached(StreamName, DeliveryPolicy)
  case publisherGone
  case publisherBack
  /// The publisher's patience is used up: from here on the newest frames are read.
  case losslessEnded
  /// The first format, and every other one that follows.
  case format(FrameFormat)
  /// A stream of sound whose format cannot be used is left out.
  case soundRefused(StreamName, SoundConverter.Refusal)
  case progress(UploadProgress)
}

/// A moment of a running upload; rates are those since the report before.
public struct UploadProgress: Hashable, Sendable {
  public var frames = 0
  public var repeatedFrames = 0
  public var framesPerSecond = 0.0
  public var bitsPerSecond = 0.0
  public var drops: UInt64 = 0
  /// From the moment of capture to the moment of receipt, over the whole run.
  public var latencyP50Ns: UInt64 = 0
  public var latencyP99Ns: UInt64 = 0
  public var byteCount: UInt64 = 0
  /// Nil where no stream of sound is asked for.
  public var sound: SoundFigures?
}

/// What became of the sound of an upload.
public struct SoundFigures: Hashable, Sendable {
  /// Ten milliseconds each.
  public var chunks = 0
  /// Frames of the streams that were published and never received.
  public var drops: UInt64 = 0
  /// Sample frames that came too late for their place.
  public var lateSampleFrames = 0
  /// How much later beeps are heard than their flashes are seen; nil if that is not measured, or
  /// there was no pair.
  public var skewNs: Int64?

  public init() {}
}

/// A finished upload; rates are those of the whole run, or 0 if it was too short to have any.
public struct UploadSummary: Hashable, Sendable {
  public var progress: UploadProgress
  public var output: String
  public var end: UploadEnd
}
