import CommandLineSupport
import FrameBus
import Platform
import SharedLog
import Upload
import UploadGStreamer
import WHIP

/// Logs the events of an upload.
struct UploadLog {
  private var drops = DropNews()

  mutating func append(_ report: UploadReport) {
    switch report {
    case .progress(let progress): appendDrops(progress.drops)
    case .waitingForStream(let stream):
      ProductLog.append(.info, "waiting for the stream", [LogField("stream", stream.text)])
    case .attached(let stream, let policy):
      ProductLog.append(
        .info, "stream attached",
        [LogField("stream", stream.text), LogField("policy", "\(policy)")])
    case .publisherGone: ProductLog.append(.warning, "the publisher is gone")
    case .publisherBack: ProductLog.append(.info, "the publisher is back")
    case .paused(let stream, let reason):
      ProductLog.append(
        .notice, "the stream is paused: \(reason.explanation)", [LogField("stream", stream.text)])
    case .resumed(let stream):
      ProductLog.append(.notice, "the stream continues", [LogField("stream", stream.text)])
    case .oldPicture(let picture): ProductLog.append(.notice, "\(picture)")
    // The warning on the terminal is logged as well.
    case .losslessEnded, .annotated: break
    case .soundRefused(let stream, let refusal):
      ProductLog.append(
        .notice, "sound stream left out: \(refusal)", [LogField("stream", stream.text)])
    case .format(let format):
      ProductLog.append(
        .info, "frame format",
        [
          LogField("size", "\(format.width)x\(format.height)"),
          LogField("format", "\(format.fourcc)"),
        ])
    }
  }

  private mutating func appendDrops(_ total: UInt64) {
    guard let count = drops.take(total, nowNs: monotonicNowNs()) else { return }
    ProductLog.append(.notice, "frames dropped", [LogField("count", "\(count)")])
  }
}

extension MediaKind {
  /// The message for an endpoint that refuses this kind of media.
  var refusal: String {
    let what = self == .audio ? "no sound: only pictures are" : "no pictures: only sound is"
    return "the endpoint accepts \(what) sent; see what it accepts with `framebus whip probe`"
  }
}

#if Media
  extension ProductLog {
    static func append(_ report: WHIPReport) {
      switch report {
      case .connection(.refused(let kind)): append(.notice, kind.refusal)
      case .connection(.notUsed(let error)): append(.warning, "going on without \(error)")
      case .connection(.bitrate(let bitsPerSecond)):
        append(.debug, "bitrate adapted", [LogField("bitsPerSecond", "\(bitsPerSecond)")])
      case .connection(.candidatesRefused(let error)):
        append(.notice, "the endpoint accepts no further candidates: \(error)")
      case .connection(.ended(.stopped)): append(.info, "connection ended")
      case .oneSize: append(.notice, "the endpoint takes no simulcast: sending one size")
      case .otherCodec(let refused, let next):
        append(.notice, "the endpoint does not take \(refused): sending \(next) instead")
      case .reconnecting(let error, _): append(.warning, "\(error)")
      case .connection, .notMoved: break
      }
    }
  }
#endif

extension ProductLog {
  static func append(_ summary: UploadSummary) {
    append(
      .info, UploadProgress.ended,
      [LogField("end", "\(summary.end)")] + summary.progress.logged)
  }
}

extension UploadProgress {
  /// The log message at the end of an upload.
  static let ended = "upload ended"

  var logged: [LogField] {
    [
      LogField("frames", "\(frames)"), LogField("repeated", "\(repeatedFrames)"),
      LogField("framesPerSecond", "\(framesPerSecond)"), LogField("drops", "\(drops)"),
      LogField("bytes", "\(byteCount)"), LogField("latencyP50Ns", "\(latencyP50Ns)"),
      LogField("latencyP99Ns", "\(latencyP99Ns)"),
    ]
  }
}
