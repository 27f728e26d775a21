import FrameBus
import Platform

/// What to record, where, and for how long.
public struct RecordingPlan: Sendable {
  public let stream: StreamName
  /// The file's path. An existing file is replaced.
  public let path: String
  /// Nil: lossless where the publisher grants it, otherwise as many frames as the ring keeps.
  public var policy: SubscriberPolicy?
  public var frameLimit: Int?
  /// The time to record, from the first frame on.
  public var duration: Duration?

  public init(stream: StreamName, path: String) {
    self.stream = stream
    self.path = path
  }
}

/// The figures of a recording so far.
public struct RecordingFigures: Hashable, Sendable {
  /// Complete frames in the file.
  public var frames: UInt64 = 0
  /// Their bytes.
  public var byteCount: UInt64 = 0
  /// Frames that were published and that this recording does not have.
  public var dropped: UInt64 = 0
  public var elapsedNs: UInt64 = 0
  /// Whether frames are written directly to the disk, bypassing the page cache.
  public var isDirect = false
  /// Why frames are written one at a time; nil if several writes are in flight.
  public var ringRefusal: SystemError?

  /// Frames in the file or being written.
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

/// What a recorder reports while it runs.
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

/// Why a recording did not begin or ended early.
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
