import Broadcast
import CredentialStore
import FrameBus
import Platform
import SharedLog
import Upload

/// The uploader as an extension of a broadcast: each picture goes to the destination as it comes.
///
/// It refuses to wait for a destination that is full: the picture is dropped, so that the next call
/// brings a newer one.
final class BroadcastUpload: BroadcastSampleHandler {
  private let make: (SetupInfo) throws -> any Destination
  private var destination: (any Destination)?
  private var firstPtsNs: Int64?
  private var lastPtsNs: UInt64 = 0
  private var statistics = UploadStatistics()
  private var dropCount: UInt64 = 0
  private var log: SharedLog?

  /// - Parameter make: makes the destination, once the extension has what the host hands over.
  init(to make: @escaping (SetupInfo) throws -> any Destination) { self.make = make }

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    let destination: any Destination
    do {
      destination = try make(setupInfo)
    } catch {
      throw BroadcastFailure(domain: Self.domain, code: 2, reason: "\(error)")
    }
    self.destination = destination
    log = setupInfo.log
    try setupInfo.openCredentials()
    try attempt { () throws(DestinationError) in try destination.prepare() }
    setupInfo.log.append(.notice, "uploads to \(destination.output)", label: Self.label)
  }

  override func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {
    guard type == .video, let destination else { return }
    let lease = sample.lease
    dropCount += sample.droppedBefore
    let ptsNs = stamp(sample.ptsNs)
    let isTaken = try attempt { () throws(DestinationError) in
      guard try destination.waitForRoom(until: .now, stop: nil) else { return false }
      try destination.accept(lease, ptsNs: ptsNs)
      return true
    }
    guard isTaken else { return dropCount += 1 }
    statistics.countFrame(
      capturedAtNs: sample.metadata.capturedAtNs, nowNs: monotonicNowNs())
  }

  override func broadcastFinished() {
    let byteCount = destination?.byteCount ?? 0
    let figures = statistics.summary(drops: dropCount, sound: nil, byteCount: byteCount)
    log?.append(.notice, UploadProgress.ended, label: Self.label, metadata: figures.logged)
    do throws(DestinationError) {
      try destination?.finish()
    } catch {
      finishBroadcast(withError: Self.failure(error))
    }
  }

  /// Nanoseconds since the first picture, strictly rising over the lives of the capture.
  private func stamp(_ ptsNs: Int64) -> UInt64 {
    let first = firstPtsNs ?? ptsNs
    firstPtsNs = first
    lastPtsNs = max(
      UInt64(max(0, ptsNs - first)), lastPtsNs + (statistics.frames == 0 ? 0 : 1_000_000))
    return lastPtsNs
  }

  /// What the destination refuses ends the broadcast.
  private func attempt<Value>(
    _ body: () throws(DestinationError) -> Value
  ) throws(BroadcastFailure) -> Value {
    do { return try body() } catch {
      destination?.abandon()
      throw Self.failure(error)
    }
  }

  private static let domain = "framebus.upload"
  private static let label = "upload"

  private static func failure(_ error: DestinationError) -> BroadcastFailure {
    BroadcastFailure(domain: domain, code: error.isMisuse ? 2 : 1, reason: "\(error)")
  }
}

extension SetupInfo {
  /// Opens what was handed over, so that a credential that has expired, say, ends the broadcast
  /// before its first picture.
  fileprivate func openCredentials() throws(BroadcastFailure) {
    guard let credentials else { return }
    do throws(CredentialError) {
      for lease in try credentials.list() where lease.accessibility == .session {
        _ = try credentials.get(lease.name)
        log.append(.notice, "opened the credential \(lease.name)", label: "upload")
      }
    } catch {
      throw BroadcastFailure(
        domain: "framebus.upload", code: 2, reason: "\(error)",
        recovery: "framebus credential list")
    }
  }
}
