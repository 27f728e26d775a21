import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A capture publishes as much as its subscribers need.
@Suite struct DemandTests {
  private func subscriber(_ world: ScreenWorld, _ demand: Demand) throws -> Subscriber {
    var options = SubscriberOptions()
    options.demand = demand
    return try Subscriber(
      world.stream, in: world.group, options: options,
      waitingForPublisherUntil: .after(.seconds(30)))
  }

  private let quarter = Demand(box: Demand.Box(width: 80, height: 60))

  @Test(arguments: [["--backend", "shm"], ["--backend", "socket"], ["--isolate"]])
  func pictureIsAsLargeAsSubscribersNeed(backend: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 321, height: 243)
      try world.paint("#204060")
      let logo = try world.screen.show("xlogo", ["-geometry", "203x151+40+30", "-bg", "#c08040"])
      let capture = try world.capture("--no-cursor", backend[0], backend.dropFirst().first ?? "-q")
      var small = try subscriber(world, quarter)
      let frame = try small.take {
        // The first subscriber's first frame, too.
        #expect($0.width == 81 && $0.height == 61)
        return $0.pixel(15, 10) == 0xC08040
      }
      // Each pixel is the mean of its square in the whole picture.
      let grab = try world.independentGrab(width: 321, height: 243)
      #expect(frame.differences(from: reduced(grab, width: 321, height: 243, by: 4)).isEmpty)
      // A recorder comes and goes.
      do {
        var whole = try subscriber(world, .everything)
        let taken = try whole.take { $0.width == 321 }
        #expect(taken.differences(from: grab).isEmpty)
        let seen = try small.take { $0.width == 321 }
        #expect(seen.damage.isFull)
        _ = consume whole
      }
      let later = try small.take { $0.width == 81 }
      #expect(later.damage.isFull && later.differences(from: frame.bytes).isEmpty)
      try capture.end(with: Signal.terminate)
      withExtendedLifetime(logo) {}
    }
  }

  @Test func snapshotShowsTheWholePictureThoughAnotherNeedsLess() throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 321, height: 243)
      let pointer = try restlessPointer(on: world)
      let capture = try world.capture("--fps", "20")
      var small = try subscriber(world, quarter)
      _ = try small.take { $0.width == 81 }
      let file = world.root.file("now.png")
      try output(
        of: "framebus",
        ["snapshot", "screen", file, "--root", world.root.path, "--group", "org.example.test"])
      let header = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)).prefix(24).suffix(8))
      #expect(header == [0, 0, 1, 65, 0, 0, 0, 243])
      // Monitoring the stream needs no picture.
      _ = try small.take { $0.width == 81 }
      let top = try RunningProgram(
        "framebus",
        ["top", "--interval", "0.2", "--count", "2", "--json", "--root", world.root.path]
          + ["--group", "org.example.test"])
      while top.process.status == nil { #expect(try small.take { _ in true }.width == 81) }
      try capture.end(with: Signal.terminate)
      withExtendedLifetime(pointer) {}
    }
  }

  private func reduced(_ bytes: [UInt8], width: Int, height: Int, by divisor: Int) -> [UInt8] {
    var result: [UInt8] = []
    for top in stride(from: 0, to: height, by: divisor) {
      for left in stride(from: 0, to: width, by: divisor) {
        let rows = top..<min(top + divisor, height)
        let columns = left..<min(left + divisor, width)
        for channel in 0..<4 {
          var sum = 0
          for row in rows {
            for column in columns { sum += Int(bytes[(row * width + column) * 4 + channel]) }
          }
          result.append(UInt8(sum / (rows.count * columns.count)))
        }
      }
    }
    return result
  }

  @Test func changesCursorAndProtectedWindowsAreWhereTheSmallPictureHasThem() throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 320, height: 240)
      try world.paint("#204060")
      try world.movePointer(x: 300, y: 20)
      let secret = try ShownWindow("secret", "80x60+160+120", on: world.screen)
      let capture = try world.capture("--protect", "secret")
      var small = try subscriber(world, quarter)
      let frame = try small.take { $0.pixel(50, 40) == 0 && $0.pixel(2, 2) == 0x204060 }
      #expect(frame.width == 80 && frame.height == 60)
      for (x, y) in [(40, 30), (59, 30), (40, 44), (59, 44)] { #expect(frame.pixel(x, y) == 0) }
      #expect(frame.pixel(39, 29) == 0x204060 && frame.pixel(60, 45) == 0x204060)
      while try small.take(within: .milliseconds(300)) != nil {}
      try world.movePointer(x: 40, y: 200)
      let moved = try small.take { !$0.damage.isFull && !$0.damage.isEmpty }
      #expect(moved.damage.rects.contains { $0.x <= 10 && 10 <= $0.x + $0.width })
      #expect(moved.damage.rects.allSatisfy { $0.x + $0.width <= 80 && $0.y + $0.height <= 60 })
      try capture.end(with: Signal.terminate)
      withExtendedLifetime(secret) {}
    }
  }

  /// Only what changed is grabbed, so everything else stays from frames before.
  @Test(arguments: ["shm", "socket"]) func smallPictureIsRightAfterManyChanges(
    backend: String
  ) throws {
    try withWatchdog {
      let world = try ScreenWorld(width: 321, height: 243)
      try world.paint("#204060")
      let capture = try world.capture("--no-cursor", "--backend", backend)
      var small = try subscriber(world, quarter)
      _ = try small.take { $0.width == 81 }
      for seed in 1...8 {
        try drawAtRandom(on: world, seed: seed)
        let grab = try world.independentGrab(width: 321, height: 243)
        let expected = reduced(grab, width: 321, height: 243, by: 4)
        // Earlier frames come first.
        _ = try small.take { $0.differences(from: expected).isEmpty }
      }
      try capture.end(with: Signal.terminate)
    }
  }

  /// Twenty rectangles, in corners and over each other.
  private func drawAtRandom(on world: ScreenWorld, seed: Int) throws {
    let script = """
      import random
      from Xlib import display
      d = display.Display("\(world.screen.display)")
      draw = random.Random(\(seed))
      root = d.screen().root
      for step in range(20):
        paint = root.create_gc(foreground=draw.randrange(1 << 24))
        x, y = draw.randrange(321), draw.randrange(243)
        root.fill_rectangle(paint, x, y, draw.randrange(1, 60), draw.randrange(1, 40))
        d.sync()
      """
    try output(of: "/usr/bin/python3", ["-c", script])
  }

  @Test func cursorLeavesNothingBehindInTheSmallPicture() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      try world.paint("#204060")
      try world.movePointer(x: 100, y: 100)
      let capture = try world.capture()
      var small = try subscriber(world, quarter)
      let before = try small.take { $0.width == 80 && $0.pixel(25, 25) != 0x204060 }
      for (x, y) in [(103, 102), (110, 100), (300, 230), (0, 0)] {
        try world.movePointer(x: x, y: y)
        _ = try small.take { $0.pixel(x / 4, y / 4) != 0x204060 }
      }
      try world.movePointer(x: 100, y: 100)
      let after = try small.take { $0.pixel(25, 25) != 0x204060 && $0.pixel(1, 1) == 0x204060 }
      #expect(after.differences(from: before.bytes).isEmpty)
      try capture.end(with: Signal.terminate)
    }
  }

  @Test func framesComeAsOftenAsSubscribersNeedThem() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let pointer = try restlessPointer(on: world)
      let capture = try world.capture("--fps", "50")
      var slow = try subscriber(world, Demand(rate: FrameRate(4)))
      var capturedAtNs = try (0..<5).map { _ in try slow.captureTimeOfNext() }
      // Whole intervals: a busy machine is late for one, and not for the next.
      let intervals = zip(capturedAtNs.dropFirst(), capturedAtNs).map { $0 - $1 }
      #expect(intervals.reduce(0, +) > 900_000_000, "\(intervals)")
      // Another one needs all frames.
      var quick = try subscriber(world, .everything)
      capturedAtNs = []
      try waitUntil("two frames are near to each other") {
        capturedAtNs.append(try quick.captureTimeOfNext())
        return capturedAtNs.count > 1
          && capturedAtNs.suffix(2).last! - capturedAtNs.suffix(2).first! < 100_000_000
      }
      try capture.end(with: Signal.terminate)
      withExtendedLifetime(pointer) {}
    }
  }

  private func restlessPointer(on world: ScreenWorld) throws -> RunningProgram {
    let script = """
      import itertools, time
      from Xlib import display
      d = display.Display()
      for step in itertools.count():
        d.screen().root.warp_pointer(step % 300, step % 200)
        d.sync()
        time.sleep(0.01)
      """
    return try world.screen.show("/usr/bin/python3", ["-c", script])
  }
}

extension Subscriber {
  fileprivate mutating func captureTimeOfNext() throws -> UInt64 {
    guard case .frame(let lease) = try next(until: .after(.seconds(30))) else {
      throw HarnessError("no frame came")
    }
    return lease.metadata.capturedAtNs
  }
}
