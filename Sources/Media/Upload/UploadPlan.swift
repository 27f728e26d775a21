import FrameBus
import Sound

/// What to upload, and when to stop.
public struct UploadPlan: Sendable {
  /// The stream of pictures, or of sound alone, followed by streams of sound, which are mixed. The
  /// streams after the first may start late, end and return; their sound is silent meanwhile.
  public var streams: [StreamName]
  /// Nil: every frame if the publisher grants lossless delivery, as for a file; otherwise the
  /// newest, as for a screen.
  public var policy: DeliveryPolicy?
  /// The number of frames after which to stop; repeated frames do not count.
  public var frameLimit: Int?
  /// The time after the first frame at which to stop.
  public var duration: Duration?
  /// Fails if nobody publishes the stream within this time; nil: waits for it.
  public var streamWithin: Duration?
  /// Fails if no frame arrives within this time after attaching.
  public var firstFrameWithin: Duration?
  /// Fails instead of sending a picture from before the upload began, if the stream is paused or
  /// shows a screen: its picture may differ from what is on the screen now.
  public var refusesOldPictures = false
  /// Measures the skew between the flashes of `test:flash` and the beeps of `beep`.
  public var measuresSkew = false
  /// The time between two progress reports.
  public var progressInterval: Duration = .seconds(1)

  public init(stream: StreamName, sound: [StreamName] = []) { streams = [stream] + sound }

  /// The first stream: the upload starts and ends with it.
  public var stream: StreamName { streams[0] }
}

/// Why an upload ended.
public enum UploadEnd: Hashable, Sendable {
  /// The plan's limit on frames or on time was reached.
  case limitReached
  case stopped
  case publisherFinished
  case publisherFailed
}

/// An event of a running upload.
public enum UploadReport: Sendable {
  case waitingForStream(StreamName)
  case attached(StreamName, DeliveryPolicy)
  case publisherGone
  case publisherBack
  /// No frames are published until `resumed`.
  case paused(StreamName, PauseReason)
  case resumed(StreamName)
  /// The stream shows another application; nil if it is unknown.
  case annotated(StreamName, ApplicationID?)
  /// A picture is sent that was captured before the upload began, since no newer one came.
  case oldPicture(OldPicture)
  /// The publisher no longer waits for this subscriber: from now on the newest frames are read.
  case losslessEnded
  /// The first format, and each later change.
  case format(FrameFormat)
  /// A stream of sound is left out because its format cannot be used.
  case soundRefused(StreamName, SoundConverter.Refusal)
  case progress(UploadProgress)
}

/// The newest picture of a stream that no newer one has followed in time.
public struct OldPicture: Hashable, Sendable, CustomStringConvertible {
  public let stream: StreamName
  public let ageNs: UInt64
  /// Nil if the stream is not paused.
  public let pause: PauseReason?

  public var description: String {
    let seconds = (Double(ageNs) / 1e8).rounded() / 10
    let reason = pause.map { "is paused: \($0.explanation)" } ?? "has published no newer one"
    return "the newest picture of “\(stream)” is \(seconds) s old, and the stream \(reason)"
  }
}

/// The figures of a running upload; rates are those since the previous report.
public struct UploadProgress: Hashable, Sendable {
  public var frames = 0
  public var repeatedFrames = 0
  public var framesPerSecond = 0.0
  public var bitsPerSecond = 0.0
  public var drops: UInt64 = 0
  /// From capture to receipt, over the whole run.
  public var latencyP50Ns: UInt64 = 0
  public var latencyP99Ns: UInt64 = 0
  public var byteCount: UInt64 = 0
  /// Nil if no stream of sound was requested.
  public var sound: SoundFigures?
  /// Nil if the destination knows nothing of a network.
  public var network: NetworkFigures?
  /// Empty if there is only one.
  public var destinations: [DestinationFigures] = []
}

/// One of several destinations of an upload.
public struct DestinationFigures: Hashable, Sendable {
  public enum State: String, Sendable {
    /// Nothing has been written, or no peer is connected.
    case waiting
    case delivering
    /// It is complete.
    case ended
    case failed
  }

  public var output: String
  public var state = State.waiting
  public var byteCount: UInt64 = 0
  /// Over about the last second.
  public var bitsPerSecond = 0
  /// Pictures that it did not take in time, or lost.
  public var drops = 0
  public var network: NetworkFigures?
  /// Why it failed, while the others went on.
  public var error: DestinationError?

  public init(output: String) { self.output = output }
}

/// What a peer's reports say of the network, and what the destination does about it.
public struct NetworkFigures: Hashable, Sendable {
  /// The bitrate of the pictures that the network allows, at most the requested one.
  public var targetBitsPerSecond = 0
  /// Nil if the peer has not reported it.
  public var roundTripNs: UInt64?
  /// The share of packets lost recently, 0…1; nil if the peer has not reported it.
  public var lostShare: Double?
  /// Packets that were sent again.
  public var retransmittedPackets = 0

  public init() {}
}

/// The figures of an upload's sound.
public struct SoundFigures: Hashable, Sendable {
  /// The number of chunks, of ten milliseconds each.
  public var chunks = 0
  /// Frames that were published and never received.
  public var drops: UInt64 = 0
  /// Sample frames that arrived too late to be mixed in.
  public var lateSampleFrames = 0
  /// How much later beeps are heard than their flashes are seen; nil if this is not measured or
  /// there was no pair.
  public var skewNs: Int64?

  public init() {}
}

/// A finished upload; rates are those of the whole run, or 0 if it was too short to measure them.
public struct UploadSummary: Hashable, Sendable {
  public var progress: UploadProgress
  public var output: String
  public var end: UploadEnd
}
