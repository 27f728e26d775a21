import FrameBus

/// What to upload, and when to stop.
public struct UploadPlan: Sendable {
  public var stream: StreamName
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
  /// Between two progress reports.
  public var progressInterval: Duration = .seconds(1)

  public init(stream: StreamName) { self.stream = stream }
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
}

/// A finished upload; rates are those of the whole run.
public struct UploadSummary: Hashable, Sendable {
  public var progress: UploadProgress
  public var output: String
  public var end: UploadEnd
}
