import CommandLineSupport
import FrameBus
import Platform
import Synchronization
import Upload
import UploadGStreamer
import WHIP

/// Shows the progress and the result of an upload on standard error. Standard output has only JSON.
final class ProgressDisplay: Sendable {
  private let terminal: Terminal
  private let log = Mutex(UploadLog())
  /// Media that the endpoint refuses and that were reported.
  private let refused = Mutex<Set<MediaKind>>([])
  /// The peer to which the first frame will connect; nil once that is reported.
  private let peer = Mutex<String?>(nil)

  init(_ terminal: Terminal) {
    self.terminal = terminal
    #if Media
      FailedEncoders.shared.report { failure in
        terminal.warn("\(failure)")
        ProductLog.append(.warning, "\(failure)")
      }
    #endif
  }

  /// The first frame will connect to a peer.
  func willConnect(to output: String) { peer.withLock { $0 = output } }

  func show(_ report: UploadReport) {
    log.withLock { $0.append(report) }
    switch report {
    case .progress(let progress): terminal.progress(Self.line(progress))
    case .waitingForStream(let stream):
      terminal.report(
        "waiting for stream “\(stream)”; start its publisher, or see `framebus streams`")
    case .attached(let stream, let policy): terminal.detail("reading “\(stream)”, \(policy)")
    case .publisherGone: terminal.report("the publisher is gone; waiting for it to come back")
    case .publisherBack: terminal.report("the publisher is back")
    case .paused(let stream, let reason):
      terminal.report("“\(stream)” is paused: \(reason.explanation)")
    case .resumed(let stream): terminal.report("“\(stream)” continues")
    case .oldPicture(let picture): terminal.report("\(picture)")
    case .annotated: break
    case .losslessEnded:
      terminal.warn("too slow to receive every frame: the publisher no longer waits")
    case .soundRefused(let stream, let refusal):
      terminal.report("“\(stream)” is left out: \(refusal)")
    case .format(let format):
      terminal.detail(
        "frames are \(format.width)×\(format.height) \(format.fourcc), "
          + "\(format.byteCount) bytes")
      if let peer = peer.withLock({ $0.take() }) { terminal.report("connecting to \(peer)") }
    }
  }

  #if Media
    /// - Parameter name: that of one of several destinations.
    func show(_ report: WHIPReport, of name: String? = nil) {
      if case .connection(.refused(let kind)) = report,
        !refused.withLock({ $0.insert(kind).inserted })
      {
        // Reported before: a new connection gets the same answer.
        return
      }
      ProductLog.append(report)
      switch report {
      case .connection(.offered(let address)): terminal.detail("\(address) accepted the offer")
      case .connection(.refused(let kind)): terminal.report(kind.refusal)
      case .connection(.recommended(let servers)):
        let names = servers.map(\.description).joined(separator: ", ")
        terminal.detail("the endpoint recommends \(names.plain)")
      case .connection(.notUsed(let error)):
        terminal.warn("going on without \(error)")
      case .connection(.connected): showLive(name)
      case .connection(.bitrate(let bitsPerSecond)):
        terminal.detail("the receiver's reports set the bitrate to \(bitsPerSecond / 1000) kbit/s")
      case .connection(.candidatesRefused(let error)):
        terminal.detail("the endpoint accepts no further candidates: \(error)")
      case .connection(.notRemoved(let error)):
        terminal.warn("the endpoint may keep the session until it times out: \(error)")
      case .connection(.ended): break
      case .oneSize: terminal.report("the endpoint takes no simulcast: sending one size")
      case .otherCodec(let refused, let next):
        terminal.report("the endpoint does not take \(refused): sending \(next) instead")
      case .reconnecting(let error, let pause): showLoss(error, next: pause)
      // With its consequence, by the maker of the destination.
      case .notMoved: break
      }
    }
  #endif

  /// Shows that a peer has accepted a sample.
  /// - Parameter name: that of one of several destinations.
  func showLive(_ name: String? = nil) {
    let text = (name.map { $0 + ": " } ?? "") + Self.live
    terminal.report(text)
    ProductLog.append(.info, text)
  }

  /// Shows that one of several destinations has failed.
  func showEnd(of output: String, _ error: DestinationError) {
    terminal.warn("\(output) has ended, and the others go on: \(error)")
  }

  static let live = "connected; sending live"

  /// Shows a lost connection and the time until the next attempt.
  func showLoss(_ error: any Error, next pause: Duration) {
    let seconds = tenths(
      Double(pause.components.seconds) + Double(pause.components.attoseconds) / 1e18)
    terminal.report("\(error); trying again in \(seconds) s")
  }

  func show(_ summary: UploadSummary, asJSON: Bool) throws {
    if asJSON {
      try terminal.printJSON(SummaryRecord(summary), onOneLine: true)
    } else {
      let hasRates = summary.progress.framesPerSecond > 0
      terminal.report("\(summary.output): " + Self.line(summary.progress, hasRates: hasRates))
    }
  }

  private static func line(_ progress: UploadProgress, hasRates: Bool = true) -> String {
    let repeated = progress.repeatedFrames > 0 ? " (+\(progress.repeatedFrames) repeated)" : ""
    let rates =
      "\(tenths(progress.framesPerSecond)) fps, "
      + "\(tenths(progress.bitsPerSecond / 1e6)) Mbit/s, "
    return "\(counted(progress.frames, "frame"))\(repeated), \(hasRates ? rates : "")"
      + "\(counted(progress.drops, "drop")), latency "
      + "\(tenths(Double(progress.latencyP50Ns) / 1e6)) / "
      + "\(tenths(Double(progress.latencyP99Ns) / 1e6)) ms" + (progress.sound.map(line) ?? "")
      + (progress.network?.line ?? "") + progress.destinations.map { "; " + $0.line }.joined()
  }

  private static func line(_ sound: SoundFigures) -> String {
    ", sound \(tenths(Double(sound.chunks) / 100)) s, \(counted(sound.drops, "drop"))"
      + (sound.skewNs.map { ", skew \(tenths(Double($0) / 1e6)) ms" } ?? "")
  }
}

/// The summary in JSON.
private struct SummaryRecord: Encodable {
  let frames: Int
  let repeated: Int
  let fps: Double
  let drops: UInt64
  let latencyP50Ns: UInt64
  let latencyP99Ns: UInt64
  let bytes: UInt64
  let bitsPerSecond: Double
  let output: String
  let end: String
  let sound: SoundRecord?
  let network: NetworkRecord?
  let destinations: [DestinationRecord]?

  enum CodingKeys: String, CodingKey {
    case frames, repeated, fps, drops, bytes, output, end, sound, network, destinations
    case latencyP50Ns = "latency_p50_ns"
    case latencyP99Ns = "latency_p99_ns"
    case bitsPerSecond = "bits_per_second"
  }

  init(_ summary: UploadSummary) {
    let progress = summary.progress
    frames = progress.frames
    repeated = progress.repeatedFrames
    fps = (progress.framesPerSecond * 1000).rounded() / 1000
    drops = progress.drops
    latencyP50Ns = progress.latencyP50Ns
    latencyP99Ns = progress.latencyP99Ns
    bytes = progress.byteCount
    bitsPerSecond = progress.bitsPerSecond.rounded()
    output = summary.output
    sound = progress.sound.map(SoundRecord.init)
    network = progress.network.map(NetworkRecord.init)
    let parts = progress.destinations.map(DestinationRecord.init)
    destinations = parts.isEmpty ? nil : parts
    end =
      switch summary.end {
      case .limitReached: "limit"
      case .stopped: "stopped"
      case .publisherFinished: "finished"
      case .publisherFailed: "failed"
      }
  }
}

/// One of several destinations in the summary.
private struct DestinationRecord: Encodable {
  let output: String
  let state: String
  let bytes: UInt64
  let drops: Int
  let network: NetworkRecord?
  let error: String?

  init(_ figures: DestinationFigures) {
    output = figures.output
    state = figures.state.rawValue
    bytes = figures.byteCount
    drops = figures.drops
    network = figures.network.map(NetworkRecord.init)
    error = figures.error.map { "\($0)" }
  }
}

/// The network's part of the summary.
private struct NetworkRecord: Encodable {
  let targetBitsPerSecond: Int
  let roundTripNs: UInt64?
  let lostShare: Double?
  let retransmittedPackets: Int

  enum CodingKeys: String, CodingKey {
    case targetBitsPerSecond = "target_bits_per_second"
    case roundTripNs = "round_trip_ns"
    case lostShare = "lost_share"
    case retransmittedPackets = "retransmitted_packets"
  }

  init(_ figures: NetworkFigures) {
    targetBitsPerSecond = figures.targetBitsPerSecond
    roundTripNs = figures.roundTripNs
    lostShare = figures.lostShare
    retransmittedPackets = figures.retransmittedPackets
  }
}

/// The sound's part of the summary.
private struct SoundRecord: Encodable {
  let chunks: Int
  let drops: UInt64
  let lateSampleFrames: Int
  let skewNs: Int64?

  enum CodingKeys: String, CodingKey {
    case chunks, drops
    case skewNs = "skew_ns"
    case lateSampleFrames = "late_sample_frames"
  }

  init(_ figures: SoundFigures) {
    chunks = figures.chunks
    drops = figures.drops
    lateSampleFrames = figures.lateSampleFrames
    skewNs = figures.skewNs
  }
}
