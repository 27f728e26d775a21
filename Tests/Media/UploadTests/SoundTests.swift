import AppGroup
import FrameBus
import Platform
import Sound
import TestSupport
import Testing

@testable import Upload

/// Pictures and sound from real publishers in other processes.
@Suite struct SoundTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let destination = RecordingDestination()
  private let stop: StopSignal

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
    stop = try StopSignal()
    destination.takesSound = true
  }

  private func publish(
    _ stream: String, _ mode: String, _ segment: String
  ) throws -> RunningProgram {
    try Self.publish(in: root, stream, mode, segment)
  }

  private static func publish(
    in root: TemporaryRoot, _ stream: String, _ mode: String, _ segment: String
  ) throws -> RunningProgram {
    try RunningProgram("UploadTestPublisher", [root.path, stream, mode, segment])
  }

  private func run(
    _ streams: String..., report: @escaping @Sendable (UploadReport) -> Void = { _ in },
    plan change: (inout UploadPlan) -> Void = { _ in }
  ) throws -> UploadSummary {
    let names = try streams.map { try StreamName($0) }
    var plan = UploadPlan(stream: names[0], sound: Array(names.dropFirst()))
    change(&plan)
    let runner = UploadRunner(plan, to: destination, in: group, stop: stop, report: report)
    return try withWatchdog { try runner.run() }
  }

  private func expectNoGaps() {
    let first = destination.sounds.first?.ptsNs ?? 0
    for (index, sound) in destination.sounds.enumerated() {
      #expect(sound.ptsNs == first + UInt64(index) * 10_000_000)
    }
  }

  private var heardCount: Int { destination.sounds.count { !$0.chunk.isSilent } }

  /// Ends the run after `count` chunks that are not silent.
  private func stopAfterHearing(_ count: Int) {
    let (stop, destination) = (stop, destination)
    destination.onSound = { [unowned destination] _, _ in
      if destination.sounds.count(where: { !$0.chunk.isSilent }) >= count { stop.raise() }
    }
  }

  @Test func soundArrivesWithThePicturesAndWithoutGaps() throws {
    let pictures = try publish("screen", "still", "XR24:64x48:50:20000")
    let sound = try publish("audio.app", "live", "PCM:48000x2:500:10000")
    stopAfterHearing(20)
    let summary = try run("screen", "audio.app")
    #expect(destination.isSoundExpected && destination.isFinished)
    #expect(heardCount >= 20)
    #expect(summary.progress.sound?.chunks == destination.sounds.count)
    expectNoGaps()
    try sound.end(with: 15)
    try pictures.end(with: 15)
  }

  @Test func everySampleOfALosslessStreamArrives() throws {
    // 441 sample frames at 44,100 Hz are 10 ms; sound after the last picture is not waited for.
    let sound = try publish("audio.app", "lossless", "PCM:44100x1:300:10000")
    let pictures = try publish("screen", "lossless", "XR24:64x48:200:10000")
    try waitUntil("both publish") { try listStreams(in: group).count == 2 }
    let summary = try run("screen", "audio.app")
    #expect(summary.end == .publisherFinished && summary.progress.frames == 200)
    #expect(summary.progress.sound?.drops == 0)
    expectNoGaps()
    // Complete at least up to the last picture, which is at 1.99 s.
    #expect(heardCount >= 199 && heardCount == destination.sounds.count)
    try pictures.finish()
    try sound.end(with: 15)
  }

  @Test func missingSoundStreamIsSilent() throws {
    let pictures = try publish("screen", "live", "XR24:64x48:60:20000")
    let summary = try run("screen", "audio.app")
    #expect(summary.end == .publisherFinished)
    #expect(!destination.sounds.isEmpty && heardCount == 0)
    expectNoGaps()
    try pictures.finish()
  }

  @Test func lateSoundStreamIsMixedFromItsStart() throws {
    let pictures = try publish("screen", "still", "XR24:64x48:1:20000")
    let late = Collected<RunningProgram>()
    stopAfterHearing(5)
    let root = root
    _ = try run(
      "screen", "audio.app",
      report: { report in
        guard case .format = report else { return }
        let sound = try? Self.publish(in: root, "audio.app", "live", "PCM:48000x2:500:10000")
        if let sound { late.append(sound) }
      })
    #expect(heardCount >= 5)
    expectNoGaps()
    try late.all.first?.end(with: 15)
    try pictures.end(with: 15)
  }

  @Test func endedSoundStreamIsMixedAgainWhenItReturns() throws {
    let pictures = try publish("screen", "still", "XR24:64x48:1:20000")
    let first = try publish("audio.app", "live", "PCM:48000x2:10:10000")
    let second = Collected<RunningProgram>()
    let (root, stop) = (root, stop)
    var heardBefore = 0
    destination.onSound = { placed, _ in
      if placed.chunk.isSilent { return }
      heardBefore += 1
      if heardBefore > 15 { stop.raise() }
    }
    _ = try run(
      "screen", "audio.app",
      report: { report in
        guard case .waitingForStream = report else { return }
        let sound = try? Self.publish(in: root, "audio.app", "live", "PCM:48000x2:500:10000")
        if let sound { second.append(sound) }
      })
    #expect(heardBefore > 15)
    expectNoGaps()
    try first.finish()
    try second.all.first?.end(with: 15)
    try pictures.end(with: 15)
  }

  @Test func soundAloneCanBeUploaded() throws {
    let sound = try publish("audio.app", "live", "PCM:48000x2:100:10000")
    let summary = try run("audio.app")
    #expect(summary.end == .publisherFinished)
    #expect(heardCount > 0 && destination.stamps.isEmpty)
    #expect(destination.sounds.first?.ptsNs == 0)
    expectNoGaps()
    try sound.finish()
  }

  @Test func destinationWithoutSoundFailsBeforeAnythingIsOpened() throws {
    destination.takesSound = false
    let error = #expect(throws: UploadError.self) { try run("screen", "audio.app") }
    #expect(error?.description.contains("cannot carry sound") == true)
  }

  @Test func twoStreamsOfPicturesAreAnError() throws {
    let first = try publish("screen", "still", "XR24:64x48:1:20000")
    let second = try publish("window", "still", "XR24:64x48:1:20000")
    let error = #expect(throws: UploadError.self) { try run("screen", "window") }
    #expect(error?.description.contains("both carry pictures") == true)
    #expect(destination.isAbandoned)
    try first.end(with: 15)
    try second.end(with: 15)
  }
}
