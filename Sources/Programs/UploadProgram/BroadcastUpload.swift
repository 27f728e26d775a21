import Broadcast
import CredentialStore
import FrameBus
import Platform
import SharedLog
import Sound
import Upload

/// The uploader as the extension of a broadcast: it sends pictures and sound to the destination as
/// they arrive.
///
/// It refuses to wait for a full destination: the picture is dropped, and the next call brings a
/// newer one.
final class BroadcastUpload: BroadcastSampleHandler, IdleHandler {
  /// The most sound to send in one call, so that filling a long gap does not delay pictures.
  private static let chunksAtATime = 200
  /// How often to poll a full destination for room for a still picture.
  private static let roomInterval = Duration.milliseconds(50)

  private let make: (SetupInfo) throws -> any Destination
  private var setup: SetupInfo?
  private var destination: (any Destination)?
  private var statistics = UploadStatistics()
  private var dropCount: UInt64 = 0
  private var timeline = Timeline()
  private var still = StillPicture()
  private var nextRoomPoll = Deadline.now
  private var track = SoundTrack()
  private var takesSound = false
  private var refusal: SoundConverter.Refusal?

  /// - Parameter make: makes the destination, with the setup that the host hands over.
  init(to make: @escaping (SetupInfo) throws -> any Destination) { self.make = make }

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    let destination: any Destination
    do {
      destination = try make(setupInfo)
    } catch {
      throw BroadcastFailure(domain: Self.domain, code: 2, reason: "\(error)")
    }
    setup = setupInfo
    self.destination = destination
    try setupInfo.openCredentials()
    takesSound = destination.takesSound && setupInfo.samples.contains { $0 != .video }
    if takesSound { destination.expectSound() }
    try attempt { () throws(DestinationError) in try destination.prepare() }
    setupInfo.log.append(.notice, "uploads to \(destination.output)", label: Self.label)
  }

  override func broadcastPaused(for reasons: [BroadcastPause]) throws(BroadcastFailure) {
    still.release()
  }

  override func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {
    guard let destination else { return }
    let frame = sample.lease
    if type == .video { dropCount += sample.droppedBefore } else { takeSound(frame, of: type) }
    try attempt { () throws(DestinationError) in
      if type == .video { try send(frame, to: destination) }
      try sendSound(to: destination)
      try repeatIfStill(to: destination)
    }
  }

  var worksAt: Deadline {
    still.dueNs.map { max(Deadline(monotonicNs: $0), nextRoomPoll) } ?? .never
  }

  /// Repeats pictures and sends sound between samples: a still screen produces no samples.
  func workWhileIdle() throws(BroadcastFailure) {
    guard let destination else { return }
    try attempt { () throws(DestinationError) in
      try sendSound(to: destination)
      try repeatIfStill(to: destination)
    }
  }

  override func broadcastFinished() {
    guard let destination else { return }
    still.release()
    statistics.lostFrames = destination.lostFrames
    let figures = statistics.summary(
      drops: dropCount, sound: nil, byteCount: destination.byteCount)
    setup?.log.append(.notice, UploadProgress.ended, label: Self.label, metadata: figures.logged)
    // For example, if drawing a huge picture takes seconds and the broadcast is stopped meanwhile.
    if statistics.frames == 0, setup?.samples.contains(.video) == true {
      setup?.log.append(
        .warning, "no picture arrived before the end: \(destination.output) has no picture",
        label: Self.label)
    }
    do throws(DestinationError) {
      while takesSound, let placed = track.drain(beside: picturesTimeline) {
        try destination.accept(placed.chunk, ptsNs: placed.ptsNs)
      }
      try destination.finish()
    } catch {
      finishBroadcast(withError: Self.failure(error))
    }
  }

  // MARK: Pictures

  private func send(
    _ frame: HeldFrame, to destination: any Destination
  ) throws(DestinationError) {
    guard try destination.waitForRoom(until: .now, stop: nil) else { return dropCount += 1 }
    let metadata = frame.lease.metadata
    let ptsNs = timeline.place(
      ptsNs: metadata.ptsNs, capturedAtNs: metadata.capturedAtNs,
      generation: frame.lease.generation)
    try destination.accept(frame, ptsNs: ptsNs)
    let nowNs = monotonicNowNs()
    statistics.countFrame(capturedAtNs: metadata.capturedAtNs, nowNs: nowNs)
    still.sent(destination.wantsRepeatedFrames ? frame : nil, nowNs: nowNs)
  }

  /// Repeats the picture of a still screen, because sound is sent at most a second ahead of
  /// pictures.
  private func repeatIfStill(to destination: any Destination) throws(DestinationError) {
    let nowNs = monotonicNowNs()
    guard let dueNs = still.dueNs, nowNs >= dueNs, let frame = still.frame else { return }
    guard try destination.waitForRoom(until: .now, stop: nil) else {
      return nextRoomPoll = .after(Self.roomInterval)
    }
    try destination.accept(frame, ptsNs: still.sentAgain(on: &timeline, nowNs: nowNs))
  }

  // MARK: Sound

  /// Nil for an extension that receives only sound.
  private var picturesTimeline: Timeline? {
    setup?.samples.contains(.video) == true ? timeline : nil
  }

  private func takeSound(_ frame: HeldFrame, of type: SampleBufferType) {
    guard takesSound else { return }
    do throws(SoundConverter.Refusal) {
      try track.take(
        frame.lease, of: type == .audioMic ? 1 : 0, timeoutNs: SoundTrack.liveTimeoutNs,
        beside: picturesTimeline, nowNs: monotonicNowNs())
    } catch {
      // Logged once.
      if refusal != error {
        setup?.log.append(.warning, "\(type.rawValue) is left out: \(error)", label: Self.label)
      }
      refusal = error
    }
  }

  private func sendSound(to destination: any Destination) throws(DestinationError) {
    guard takesSound else { return }
    for _ in 0..<Self.chunksAtATime {
      guard
        let placed = track.next(
          beside: picturesTimeline, fillsGaps: true, nowNs: monotonicNowNs())
      else { return }
      try destination.accept(placed.chunk, ptsNs: placed.ptsNs)
    }
  }

  // MARK: Failures

  /// Runs `body`. An error of the destination ends the broadcast.
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
  /// Opens the credentials that were handed over, so that one that has expired, for example, ends
  /// the broadcast before its first picture.
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
