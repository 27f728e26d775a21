import AppGroup
import Capture
import FrameBus
import Platform
import TestSupport
import Testing

/// Sources that are not a screen publish no more than their subscribers need, where they can.
@Suite struct SourceDemandTests {
  private let root: TemporaryRoot
  private let group: AppGroup

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
  }

  private func framebus(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram("framebus", arguments + inGroup)
  }

  private func run(_ arguments: String...) throws {
    try output(of: "framebus", arguments + inGroup)
  }

  private var inGroup: [String] { ["--root", root.path, "--group", "org.example.test"] }

  private func subscriber(_ demand: Demand, to stream: String = "screen") throws -> Subscriber {
    var options = SubscriberOptions()
    options.demand = demand
    return try Subscriber(
      StreamName(stream), in: group, options: options,
      waitingForPublisherUntil: .after(.seconds(60)))
  }

  private let quarter = Demand(box: Demand.Box(width: 160, height: 120))
  private let slow = Demand(rate: FrameRate(4))

  @Test func testPatternIsDrawnAsLargeAsSubscribersNeed() throws {
    try withWatchdog {
      let capture = try framebus("capture", "test:bars", "--size", "641x480", "--fps", "20")
      var small = try subscriber(quarter)
      // The first frame, too. Its mark has the number of the frame.
      let (width, height) = try small.takeMarked()
      #expect(width == 161 && height == 120)
      do {
        var whole = try subscriber(.everything)
        while try whole.takeMarked() != (641, 480) {}
        while try small.takeMarked() != (641, 480) {}
        _ = consume whole
      }
      while try small.takeMarked() != (161, 120) {}
      try capture.end(with: Signal.terminate)
    }
  }

  @Test(arguments: [
    ["test:bars", "--size", "64x48", "--fps", "50"],
    ["gst:videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=50/1", "-q"],
  ])
  func framesComeAsOftenAsSubscribersNeedThem(source: [String]) throws {
    try withWatchdog {
      let capture = try RunningProgram("framebus", ["capture"] + source + inGroup)
      var seldom = try subscriber(slow)
      let times = try (0..<20).map { _ in try seldom.takeTime() }
      // Three quarters of 19 intervals: a busy machine may be late for the first.
      #expect(times[19] - times[0] > 3_560_000_000, "\(times)")
      var quick = try subscriber(.everything)
      var newest = try quick.takeTime()
      try waitUntil("two frames are near to each other") {
        let former = newest
        newest = try quick.takeTime()
        return newest - former < 100_000_000
      }
      try capture.end(with: Signal.terminate)
    }
  }

  /// The second frame follows after 40 ms; then the source pauses, or ends.
  @Test(arguments: [
    "\(twoFrames) ! f. videotestsrc is-live=true ! \(caps) ! valve drop=true ! f. funnel name=f",
    twoFrames,
  ])
  func lastFrameBeforeAPauseOrTheEndIsPublished(pipeline: String) throws {
    try withWatchdog {
      let capture = try framebus("capture", "gst:\(pipeline)", "-q")
      var seldom = try subscriber(slow)
      var newest: UInt64 = 0
      while newest < 2, case .frame(let lease) = try seldom.next(until: .after(.seconds(60))) {
        newest = lease.sequence.rawValue
      }
      #expect(newest == 2)
      try capture.end(with: Signal.terminate)
    }
  }

  private static let caps = "video/x-raw,width=64,height=48,framerate=25/1"
  private static let twoFrames = "videotestsrc is-live=true num-buffers=2 ! \(caps)"

  /// Of three frames in a tenth of a second, the first and the last.
  @Test func lastFrameOfARecordingIsPlayed() throws {
    try withWatchdog {
      let source = "gst:videotestsrc is-live=true ! \(Self.caps)"
      let capture = try framebus("capture", source, "-q")
      try run("record", "screen", root.file("a.rec"), "--frames", "3")
      try capture.end(with: Signal.terminate)
      let all = try playedTimes(.everything)
      let few = try playedTimes(slow)
      #expect(all.count == 3)
      #expect(few.first == all.first && few.last == all.last, "\(few) of \(all)")
    }
  }

  /// The times of the recording's frames, as a subscriber receives them that misses none.
  private func playedTimes(_ demand: Demand) throws -> [Int64] {
    let player = try framebus("play", root.file("a.rec"), "--to-stream", "again")
    var options = SubscriberOptions()
    options.demand = demand
    options.policy = .lossless(deadline: .seconds(60))
    var subscriber = try Subscriber(
      StreamName("again"), in: group, options: options,
      waitingForPublisherUntil: .after(.seconds(60)))
    var times: [Int64] = []
    while case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) {
      times.append(lease.metadata.ptsNs)
    }
    #expect(try player.finish().status == .exited(0))
    return times
  }

  @Test func recordingIsPlayedAsOftenAsSubscribersNeedIt() throws {
    try withWatchdog {
      let capture = try framebus("capture", "test:bars", "--size", "64x48", "--fps", "20")
      try run("record", "screen", root.file("a.rec"), "--frames", "30")
      try capture.end(with: Signal.terminate)
      let player = try framebus("play", root.file("a.rec"), "--realtime", "--to-stream", "again")
      var seldom = try subscriber(slow, to: "again")
      var times: [Int64] = []
      while case .frame(let lease) = try seldom.next(until: .after(.seconds(60))) {
        times.append(lease.metadata.ptsNs)
      }
      #expect(times.count > 2, "\(times)")
      // The last one is played even if it is early, as is one before a pause of the recording.
      let spanNs = (times.last ?? 0) - (times.first ?? 0)
      #expect(Int64(times.count) <= spanNs / 250_000_000 + 3, "\(times)")
      #expect(try player.finish().status == .exited(0))
      // A recorder of it states nothing, and misses nothing.
      let again = try framebus("play", root.file("a.rec"), "--to-stream", "again")
      try run("record", "again", root.file("b.rec"), "--frames", "30")
      try again.finish()
    }
  }
}

extension Subscriber {
  /// The size of the next frame, whose test pattern must be readable.
  fileprivate mutating func takeMarked() throws -> (Int, Int) {
    guard case .frame(let lease) = try next(until: .after(.seconds(60))) else {
      throw HarnessError("no frame came")
    }
    let format = lease.format
    #expect(lease.metadata.flags.contains(.reduced) == (format.width < 641))
    let mark = TestPatternMark(format: format, bytes: lease.bytes)
    #expect(mark?.sequence == UInt32(truncatingIfNeeded: lease.sequence.rawValue))
    return (format.width, format.height)
  }

  /// The next frame's own time, on the clock of the source.
  fileprivate mutating func takeTime() throws -> Int64 {
    guard case .frame(let lease) = try next(until: .after(.seconds(60))) else {
      throw HarnessError("no frame came")
    }
    return lease.metadata.ptsNs
  }
}
