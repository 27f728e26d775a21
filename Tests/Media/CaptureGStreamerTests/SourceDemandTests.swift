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
      let times = try (0..<6).map { _ in try seldom.takeTime() }
      // Nine tenths of five intervals: a busy machine is late for the first.
      #expect(times[5] - times[0] > 1_100_000_000, "\(times)")
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
      #expect(
        zip(times.dropFirst(), times).allSatisfy { $0 - $1 > 120_000_000 }, "\(times)")
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

  fileprivate mutating func takeTime() throws -> UInt64 {
    guard case .frame(let lease) = try next(until: .after(.seconds(60))) else {
      throw HarnessError("no frame came")
    }
    return lease.metadata.capturedAtNs
  }
}
