import FrameBus
import Platform

/// What is to be recorded, where to, and until when.
public struct RecordingPlan: Sendable {
  public let stream: StreamName
  /// An existing file is replaced.
  public let path: String
  /// Nil: lossless where the publisher grants it, else all that the ring keeps.
  public var policy: SubscriberPolicy?
  public var frameLimit: Int?
  /// From the first frame on.
  public var duration: Duration?

  public init(stream: StreamName, path: String) {
    self.stream = stream
    self.path = path
  }
}

/// How a recording goes.
public struct RecordingFigures: Hashable, Sendable {
  /// Frames in the file, whole.
  public var frames: UInt64 = 0
  /// Their bytes.
  public var byteCount: UInt64 = 0
  /// Frames that this recording will never have.
  public var dropped: UInt64 = 0
  public var elapsedNs: UInt64 = 0
  /// Whether frames go straight to the disk, past the page cache.
  public var isDirect = false
  /// Why frames are written one after the other; nil if several are under way at once.
  public var ringRefusal: SystemError?

  /// Frames in the file or on their way there.
  var received: UInt64 = 0

  public func bytesPerSecond(since earlier: RecordingFigures? = nil) -> Double {
    perSecond(byteCount - (earlier?.byteCount ?? 0), since: earlier)
  }

  public func framesPerSecond(since earlier: RecordingFigures? = nil) -> Double {
    perSecond(frames - (earlier?.frames ?? 0), since: earlier)
  }

  private func perSecond(_ count: UInt64, since earlier: RecordingFigures?) -> Double {
    let elapsed = elapsedNs - min(elapsedNs, earlier?.elapsedNs ?? 0)
    return elapsed > 0 ? Double(count) * 1e9 / Double(elapsed) : 0
  }
}

/// What a recorder has to say while it runs.
public enum RecordingReport: Sendable {
  case waitingForStream(StreamName)
  case event(StreamEvent)
  /// At the beginning, and every second.
  case progress(RecordingFigures)
}

public enum RecordingEnd: String, Hashable, Sendable {
  case limitReached = "limit"
  case stopped
  case publisherFinished = "finished"
  case publisherFailed = "failed"
}

public struct RecordingSummary: Hashable, Sendable {
  public let figures: RecordingFigures
  public let end: RecordingEnd
}

/// Why a recording did not begin, or ended early.
public enum RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  case cannotSubscribe(SubscriberError)
  case cannotReceive(ReceiveError)
  case file(SystemError)

  public var description: String {
    switch self {
    case .cannotSubscribe(let error): "\(error)"
    case .cannotReceive(let error): "\(error)"
    case .file(let error): "\(error)" + Self.hint(error)
    }
  }

  private static func hint(_ error: SystemError) -> String {
    if error.isBusy {
      return "; another program writes this file: choose another one, or stop that program"
    }
    return switch error.reasonKind {
    case .noSpace: "; the frames before are complete: free space, or record to another disk"
    case .readOnly: "; choose a file on another disk"
    case .notPermitted: "; choose a file that you may write"
    case .fileSizeLimit: "; raise the limit on a file's size (`ulimit -f`)"
    case .other: error.isMissing ? "; check the path" : ""
    }
  }
}
