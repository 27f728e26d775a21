import Broadcast
import FrameBus
import Platform
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
  private var frameCount = 0

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
    try attempt { () throws(DestinationError) in try destination.prepare() }
    setupInfo.log.append(.notice, "uploads to \(destination.output)", label: "upload")
  }

  override func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {
    guard type == .video, let destination else { return }
    let lease = sample.lease
    let ptsNs = stamp(sample.ptsNs)
    try attempt { () throws(DestinationError) in
      guard try destination.waitForRoom(until: .now, stop: nil) else { return }
      try destination.accept(lease, ptsNs: ptsNs)
    }
    frameCount += 1
  }

  override func broadcastFinished() {
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
    lastPtsNs = max(UInt64(max(0, ptsNs - first)), lastPtsNs + (frameCount == 0 ? 0 : 1_000_000))
    return lastPtsNs
  }

  /// What the destination refuses ends the broadcast.
  private func attempt(_ body: () throws(DestinationError) -> Void) throws(BroadcastFailure) {
    do { try body() } catch {
      destination?.abandon()
      throw Self.failure(error)
    }
  }

  private static let domain = "framebus.upload"

  private static func failure(_ error: DestinationError) -> BroadcastFailure {
    BroadcastFailure(domain: domain, code: error.isMisuse ? 2 : 1, reason: "\(error)")
  }
}
