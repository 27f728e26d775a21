import AppGroup
import FrameBus
import Platform
import Sound
import Synchronization
import TestSupport
import Testing

@testable import Upload

/// The runner with a real publisher in another process.
@Suite struct RunnerTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let stream: StreamName

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
    stream = try StreamName("screen")
  }

  private func publish(_ mode: String, _ segments: String...) throws -> RunningProgram {
    try RunningProgram("UploadTestPublisher", [root.path, "screen", mode] + segments)
  }

  private func run(
    _ destination: any Destination, stop: StopSignal? = nil,
    report: @escaping @Sendable (UploadReport) -> Void = { _ in },
    plan change: (inout UploadPlan) -> Void = { _ in }
  ) throws -> UploadSummary {
    var plan = UploadPlan(stream: stream)
    change(&plan)
    let runner = UploadRunner(
      plan, to: destination, in: group, stop: try stop ?? StopSignal(), report: report)
    return try withWatchdog { try runner.run() }
  }

  @Test func everyFrameOfALosslessStreamIsCountedOnce() throws {
    let publisher = try publish("lossless", "XR24:64x48:500:1000")
    let summary = try run(NullDestination())
    #expect(summary.end == .publisherFinished)
    #expect(summary.progress.frames == 500 && summary.progress.drops == 0)
    #expect(summary.progress.byteCount == 500 * 64 * 48 * 4)
    #expect(summary.progress.latencyP50Ns > 0)
    #expect(summary.progress.latencyP99Ns >= summary.progress.latencyP50Ns)
    try publisher.finish()
  }

  @Test func liveStreamIsReadNewestFirstByDefault() throws {
    let publisher = try publish("live", "XR24:64x48:50:2000")
    let policies = Collected<DeliveryPolicy>()
    let summary = try run(
      NullDestination(),
      report: { if case .attached(_, let policy) = $0 { policies.append(policy) } })
    #expect(policies.all == [.latest])
    #expect(summary.progress.frames + Int(summary.progress.drops) == 50)
    try publisher.finish()
  }

  @Test func missingStreamIsWaitedForAndReported() throws {
    let waiting = try StopSignal()
    let started = Collected<RunningProgram>()
    let summary = try run(
      NullDestination(),
      report: { report in
        guard case .waitingForStream = report else { return }
        waiting.raise()
        if let publisher = try? publish("live", "XR24:64x48:5:1000") { started.append(publisher) }
      })
    #expect(waiting.isRaised)
    #expect(summary.progress.frames > 0)
    try started.all.first?.finish()
  }

  @Test func missingStreamIsAnErrorWithoutWaiting() throws {
    let error = #expect(throws: UploadError.self) {
      try run(NullDestination(), plan: { $0.streamWithin = .zero })
    }
    #expect(error?.description.contains("nobody publishes stream “screen”") == true)
  }

  @Test func limitsOfFramesAndTimeEndTheRun() throws {
    let publisher = try publish("still", "XR24:64x48:20:1000")
    #expect(try run(NullDestination(), plan: { $0.frameLimit = 3 }).progress.frames == 3)
    let summary = try run(NullDestination(), plan: { $0.duration = .milliseconds(50) })
    #expect(summary.end == .limitReached)
    try publisher.end(with: 15)
  }

  @Test func lostFramesCountAsDrops() throws {
    let publisher = try publish("lossless", "XR24:64x48:50:1000")
    let destination = RecordingDestination()
    destination.losesFirst = 2
    let summary = try run(destination, plan: { $0.frameLimit = 3 })
    #expect(destination.stamps.count == 5)
    #expect(summary.progress.frames == 3 && summary.progress.drops == 2)
    try publisher.end(with: 15)
  }

  @Test func stopSignalEndsARunThatWaitsForFrames() throws {
    let publisher = try publish("still", "XR24:64x48:1:1000")
    let stop = try StopSignal()
    let summary = try run(
      NullDestination(), stop: stop, report: { if case .format = $0 { stop.raise() } })
    #expect(summary.end == .stopped && summary.progress.frames == 1)
    try publisher.end(with: 15)
  }

  @Test func killedPublisherIsWaitedForAndTheNextIsReadAtAnotherResolution() throws {
    let first = try publish("still", "XR24:64x48:10:1000")
    let second = Collected<RunningProgram>()
    let widths = Collected<Int>()
    let summary = try run(
      NullDestination(),
      report: { report in
        switch report {
        case .format(let format):
          widths.append(format.width)
          if format.width == 64 { first.process.send(signal: 9) }
        case .publisherGone:
          if let next = try? publish("live", "XR24:128x96:10:1000") { second.append(next) }
        default: break
        }
      })
    #expect(summary.end == .publisherFinished)
    #expect(widths.all == [64, 128])
    try second.all.first?.finish()
  }

  /// A publisher in this process, with one frame that has not been read.
  private func publisherOfAnOldFrame() throws -> Mutex<Publisher> {
    var options = PublisherOptions()
    options.ringDepth = 4
    let format = try FrameFormat.video(.xrgb8888, width: 64, height: 48)
    var publisher = try Publisher(stream, in: group, format: format, options: options)
    try publisher.loan().publish()
    return Mutex(publisher)
  }

  @Test func pictureFromBeforeTheUploadIsReplacedByANewOne() throws {
    let publisher = try publisherOfAnOldFrame()
    let destination = RecordingDestination()
    // In this order, so that the old one arrives first.
    let summary = try run(
      destination,
      report: { report in
        guard case .attached = report else { return }
        _ = try? publisher.withLock { try $0.loan().publish() }
      },
      plan: {
        $0.policy = .keepLatest(4)
        $0.frameLimit = 1
      })
    #expect(destination.sequences == [2] && destination.stamps == [0])
    #expect(summary.progress.frames == 1)
  }

  @Test func stillThatIsNotPublishedAgainIsStampedNow() throws {
    let publisher = try publisherOfAnOldFrame()
    let destination = RecordingDestination()
    let stop = try StopSignal()
    destination.stopAfter = (2, stop)
    let summary = try run(destination, stop: stop, plan: { $0.firstFrameWithin = .seconds(60) })
    #expect(destination.sequences == [1, 1])
    #expect(summary.progress.frames == 1 && summary.progress.repeatedFrames == 1)
    withExtendedLifetime(publisher) {}
  }

  @Test func shortRunHasNoRate() {
    var statistics = UploadStatistics()
    statistics.countFrame(capturedAtNs: 0, nowNs: 1_000_000)
    statistics.countFrame(capturedAtNs: 0, nowNs: 4_000_000)
    #expect(statistics.summary(drops: 0, sound: nil, byteCount: 9).framesPerSecond == 0)
    statistics.countFrame(capturedAtNs: 0, nowNs: 2_001_000_000)
    #expect(statistics.summary(drops: 0, sound: nil, byteCount: 9).framesPerSecond == 1)
  }

  @Test func stillScreenIsSentAgainWithIncreasingTimeStamps() throws {
    let publisher = try publish("still", "XR24:64x48:1:1000")
    let destination = RecordingDestination()
    let stop = try StopSignal()
    destination.stopAfter = (3, stop)
    let summary = try run(destination, stop: stop)
    #expect(summary.progress.frames == 1 && summary.progress.repeatedFrames == 2)
    #expect(destination.stamps.first == 0)
    for (earlier, later) in zip(destination.stamps, destination.stamps.dropFirst()) {
      #expect(later > earlier)
    }
    #expect(Set(destination.sequences) == [1])
    #expect(destination.isFinished)
    try publisher.end(with: 15)
  }

  @Test func failedDestinationIsAbandonedAndReleasesEveryFrame() throws {
    let publisher = try publish("still", "XR24:64x48:10:1000")
    let destination = RecordingDestination()
    destination.failsAfter = 1
    #expect(throws: UploadError.self) { try run(destination) }
    #expect(destination.isAbandoned && !destination.isFinished)
    let held = try listStreams(in: group).flatMap(\.subscribers).map(\.held).reduce(0, +)
    #expect(held == 0)
    try publisher.end(with: 15)
  }
}

/// Values collected on one thread and read on another.
final class Collected<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  var all: [Value] { values.withLock { $0 } }
  func append(_ value: Value) { values.withLock { $0.append(value) } }
}

/// Records the frames and chunks that it receives.
final class RecordingDestination: Destination {
  let output = "test"
  let heldFrames = 1
  let wantsRepeatedFrames = true
  let byteCount: UInt64 = 0
  private(set) var stamps: [UInt64] = []
  private(set) var sequences: [UInt64] = []
  private(set) var isFinished = false
  private(set) var isAbandoned = false
  var stopAfter: (count: Int, stop: StopSignal)?
  var failsAfter = Int.max
  var losesFirst = 0
  var lostFrames: Int { min(losesFirst, stamps.count) }
  var takesSound = false
  private(set) var isSoundExpected = false
  private(set) var sounds: [PlacedChunk] = []
  /// Called with each chunk and the number of pictures before it.
  var onSound: ((PlacedChunk, Int) -> Void)?

  func expectSound() { isSoundExpected = true }

  func accept(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
    let placed = PlacedChunk(chunk: sound, ptsNs: ptsNs)
    sounds.append(placed)
    onSound?(placed, stamps.count)
  }

  func prepare() throws(DestinationError) {}

  func waitForRoom(
    until deadline: Deadline, stop: StopSignal?
  ) throws(DestinationError) -> Bool { true }

  func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
    stamps.append(ptsNs)
    sequences.append(frame.lease.sequence.rawValue)
    if stamps.count >= failsAfter { throw .stalled(output: output) }
    if let stopAfter, stamps.count >= stopAfter.count { stopAfter.stop.raise() }
  }

  func finish() throws(DestinationError) { isFinished = true }
  func abandon() { isAbandoned = true }
}
