import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Recording

/// `framebus record` and `framebus play` with numbered frames.
@Suite struct RecordTests {
  private static let frameBytes = 320 * 200 * 4

  @Test func everyFrameOfALosslessPublisherIsRecorded() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=100", "intervalUs=0", "wait=1", "depth=4")
    let figures = try studio.recordedFigures(
      studio.run("record", "screen", studio.file("a.rec"), "--json"))
    try worker.finish()
    #expect(figures.frames == 100)
    #expect(figures.drops == 0)
    #expect(figures.bytes == 100 * Self.frameBytes)
    #expect(figures.end == "finished")
    let reader = try RecordingReader(path: studio.file("a.rec"))
    #expect(reader.index.isFinished)
    #expect(reader.index.dropped == 0)
    #expect(reader.index.stream.text == "screen")
    for number in 1...100 {
      let frame = try reader.frame(number)
      #expect(frame.sequence.rawValue == UInt64(number))
      #expect(frame.metadata.ptsNs == Int64(number) * 1_000_000)
    }
    try expectNumbers(Array(1...100), in: try play(studio, "a.rec"))
  }

  @Test func secondRecordingIntoTheSameFileIsRefused() throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let path = studio.file("a.rec")
    let first = try studio.start(["record", "screen", path])
    try first.waitForErrors(" fps, ")
    let second = try studio.start(["record", "screen", path]).finish()
    #expect(second.status == .exited(1))
    #expect(second.errors.contains("another program writes this file"), "\(second.errors)")
    #expect(try first.end(with: SIGTERM).status == .exited(0))
    try worker.end(with: SIGKILL)
    let index = try RecordingReader(path: path).index
    #expect(index.isFinished && index.count > 0)
  }

  @Test func frameFromBeforeTheRecordingIsLeftOutIfANewerOneArrives() throws {
    let studio = try Studio()
    let format = try FrameFormat.video(.xrgb8888, width: 64, height: 48)
    var publisher = try Publisher(StreamName("screen"), in: studio.group, format: format)
    try publisher.loan().publish()
    let recorder = try studio.start(["record", "screen", studio.file("a.rec"), "--frames", "1"])
    let isRead = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(isRead)
    try publisher.loan().publish()
    #expect(try recorder.finish().status == .exited(0), "\(recorder.transcript)")
    let reader = try RecordingReader(path: studio.file("a.rec"))
    #expect(try reader.index.count == 1 && reader.frame(1).sequence.rawValue == 2)
  }

  @Test func recordingOfStreamThatEndsWithoutFrameIsCompleteAndEmpty() throws {
    let studio = try Studio()
    let format = try FrameFormat.video(.xrgb8888, width: 64, height: 48)
    let publisher = try Publisher(StreamName("screen"), in: studio.group, format: format)
    let recorder = try studio.start(["record", "screen", studio.file("a.rec")])
    let isRead = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(isRead)
    publisher.finish(.ended)
    #expect(try recorder.finish().status == .exited(0), "\(recorder.transcript)")
    let index = try RecordingReader(path: studio.file("a.rec")).index
    #expect(index.isFinished && index.entries.isEmpty)
  }

  @Test func killedRecorderLeavesEveryWrittenFrame() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "intervalUs=1000", "depth=8", "wait=1")
    let recorder = try studio.start(["record", "screen", studio.file("a.rec")])
    // The progress after a second reports a minimum number of frames in the file.
    try recorder.waitForErrors(" fps, ")
    try recorder.end(with: SIGKILL)
    try worker.end(with: SIGKILL)
    let index = try RecordingReader(path: studio.file("a.rec")).index
    #expect(!index.isFinished)
    #expect(index.count >= recordedCount(of: recorder) ?? .max)
    let player = try studio.run("play", "--raw", studio.file("a.rec"))
    #expect(player.errors.text.contains("the recording is incomplete: it has \(index.count) whole"))
    let numbers = index.entries.map { Int($0.sequence) }
    try expectNumbers(numbers, in: player.output.bytes)
    // Writes end in any order, but no more frames are missing than were in flight.
    #expect((numbers.last ?? 0) - numbers.count < 16)
  }

  /// The frames in the file as the newest status line counts them.
  private func recordedCount(of recorder: RunningProgram) -> Int? {
    recorder.errors.text.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first.flatMap { Int($0) }
    }.last
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 0)] as [(Int32, Int32)])
  func stoppedRecorderFinishesItsFile(signal: Int32, status: Int32) throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let recorder = try studio.start(["record", "screen", studio.file("a.rec")])
    try waitUntil("a hundred frames are recorded") { (recordedCount(of: recorder) ?? 0) > 100 }
    #expect(try recorder.end(with: signal).status == .exited(status))
    try worker.end(with: SIGKILL)
    let index = try RecordingReader(path: studio.file("a.rec")).index
    #expect(index.isFinished)
    #expect(index.count > 100)
  }

  @Test func missedFramesAreCounted() throws {
    let studio = try Studio()
    let worker = try studio.worker()
    let recorder = try studio.start(["record", "screen", studio.file("a.rec"), "--json"])
    try recorder.waitForErrors(" fps, ")
    recorder.process.send(signal: SIGSTOP)
    let before = try #require(try listStreams(in: studio.group).first).cursor
    var now = before
    try waitUntil("500 frames are missed") {
      now = try listStreams(in: studio.group).first?.cursor ?? now
      return now >= before + 500
    }
    recorder.process.send(signal: SIGCONT)
    // Missed frames are counted with the next frame that it receives.
    try waitUntil("it has received one more") {
      try listStreams(in: studio.group).first?.subscribers.first?.position ?? 0 > now
    }
    #expect(try recorder.end(with: SIGTERM).status == .exited(0))
    try worker.end(with: SIGKILL)
    let figures = try studio.recordedFigures(recorder)
    let reader = try RecordingReader(path: studio.file("a.rec"))
    #expect(figures.drops >= 490)
    #expect(reader.index.dropped == UInt64(figures.drops))
    let frames = try (1...reader.index.count).map { try reader.frame($0) }
    #expect(frames.reduce(0) { $0 + $1.droppedBefore } == UInt64(figures.drops))
    let first = frames[0].sequence.rawValue - frames[0].droppedBefore
    #expect(
      figures.frames + figures.drops == Int(frames[frames.count - 1].sequence.rawValue - first) + 1)
  }

  @Test func formatChangeIsRecordedAndPlaysFromAfterIt() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=50", "grow=31", "wait=1")
    try studio.run("record", "screen", studio.file("a.rec"))
    try worker.finish()
    let player = try studio.start(["play", studio.file("a.rec")])
    let result = try player.finish()
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("frame 31 is 640×200 XR24 after 320×200 XR24"))
    #expect(try Y4M(player.output.bytes, frameBytes: 320 * 200 * 3).frames.count == 30)
    let rest = try studio.run("play", studio.file("a.rec"), "--from", "31").output.bytes
    let pictures = try Y4M(rest, frameBytes: 640 * 200 * 3)
    #expect(pictures.frames.count == 20)
    #expect(pictures.header.hasPrefix("YUV4MPEG2 W640 H200 "))
  }

  @Test func restartedPublisherIsRecordedIntoTheSameFile() throws {
    let studio = try Studio()
    let first = try studio.worker()
    let recorder = try studio.start(["record", "screen", studio.file("a.rec")])
    try recorder.waitForErrors(" fps, ")
    try first.end(with: SIGKILL)
    try recorder.waitForErrors("the publisher is gone")
    let second = try studio.worker("frames=500")
    try recorder.waitForErrors("the publisher is back")
    try second.finish()
    #expect(try recorder.finish().status == .exited(0))
    let reader = try RecordingReader(path: studio.file("a.rec"))
    let frames = try (1...reader.index.count).map { try reader.frame($0) }
    #expect(Set(frames.map(\.generation)).count == 2)
    #expect(frames.last?.sequence.rawValue == 500)
  }

  @Test func framesThatContainARecordingAreNotMistakenForItsFrames() throws {
    let studio = try Studio()
    let worker = try studio.worker("lossless=1", "frames=20", "wait=1")
    try studio.run("record", "screen", studio.file("inner.rec"))
    try worker.finish()
    let inner = [UInt8](try Data(contentsOf: URL(fileURLWithPath: studio.file("inner.rec"))))
    let format = try FrameFormat(
      kind: .data, fourcc: FourCC(rawValue: 0), width: 0, height: 0, planes: [],
      byteCount: inner.count)
    var options = PublisherOptions()
    options.allowsLossless = true
    var publisher = try Publisher(
      StreamName("inner"), in: studio.group, format: format, options: options)
    let recorder = try studio.start(["record", "inner", studio.file("outer.rec")])
    let hasCome = publisher.waitForSubscriber(until: .after(.seconds(60)))
    #expect(hasCome)
    for length in [inner.count, 1, 0, 4096, 4097] {
      var loan = try publisher.loan(waitingUntil: .never)
      var bytes = loan.bytes
      for index in 0..<length {
        bytes.storeBytes(of: inner[index], toByteOffset: index, as: UInt8.self)
      }
      loan.publish(byteCount: length)
    }
    publisher.finish(.ended)
    #expect(try recorder.finish().status == .exited(0))
    var outer = [UInt8](try Data(contentsOf: URL(fileURLWithPath: studio.file("outer.rec"))))
    let whole = try RecordingIndex(parsing: outer)
    #expect(whole.count == 5)
    // Without the first head its bytes are searched.
    outer[4096] ^= 1
    outer.removeLast(4096)
    #expect(try RecordingIndex(parsing: outer).entries == Array(whole.entries.dropFirst()))
    let player = try studio.run("play", "--raw", studio.file("outer.rec"))
    #expect(
      player.output.bytes == inner + inner.prefix(1) + inner.prefix(4096) + inner.prefix(4097))
  }

  private func play(_ studio: Studio, _ name: String) throws -> [UInt8] {
    try studio.run("play", "--raw", studio.file(name)).output.bytes
  }

  private func expectNumbers(_ expected: [Int], in bytes: [UInt8]) throws {
    #expect(bytes.count == expected.count * Self.frameBytes)
    for (index, number) in expected.enumerated() {
      let start = index * Self.frameBytes
      let frame = bytes[start..<start + Self.frameBytes]
      #expect(RecordingTests.number(of: frame) == UInt64(number))
    }
  }
}
