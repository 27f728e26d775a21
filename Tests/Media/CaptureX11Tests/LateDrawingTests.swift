import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// Windows whose programs draw long after they were shown or resized. Until then the server shows
/// their background, here white.
@Suite struct LateDrawingTests {
  /// How long a capture waits for the first drawing.
  private static let longestWaitNs: UInt64 = 1_000_000_000

  @Test(arguments: [["show"], ["resize 90 70", "resize 70 50"]], [[], ["--isolate"]])
  func noFrameShowsAWindowBeforeItsProgramDraws(changes: [String], options: [String]) throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "60"] + options, window: window)
      let watch = try WhiteWatch(world)
      try watch.waitForFrame { $0.white == 0 }
      for change in changes {
        if change == "show" { try window.perform("hide") }
        let times = try window.perform("late 450 \(change)").split(separator: " ")
          .compactMap { UInt64($0) }
        try #require(times.count == 2)
        try watch.waitForFrame { $0.capturedAtNs > times[1] && $0.white == 0 }
        for frame in watch.frames where times[0] <= frame.capturedAtNs && frame.white > 0 {
          // On a busy machine the program may be later than the capture waits.
          #expect(
            frame.capturedAtNs >= min(times[1], times[0] + Self.longestWaitNs),
            "\(frame), \(times)")
        }
      }
      try watch.end()
      try capture.end(with: SIGTERM)
    }
  }

  /// A program that never draws delays the stream, and does not end it.
  @Test func windowThatIsNeverDrawnIsPublishedWithItsBackground() throws {
    try withWatchdog {
      let world = try ScreenWorld()
      let window = try ShownWindow("one", "60x40+20+30", on: world.screen)
      let capture = try world.capture(["--no-cursor", "--fps", "60"], window: window)
      var subscriber = try world.subscriber()
      _ = try subscriber.take { _ in true }
      try window.perform("resize 90 70")
      #expect(try subscriber.take { $0.width == 90 }.magentaCount == 90 * 70)
      try window.perform("hide")
      try window.perform("show")
      #expect(try subscriber.take()?.magentaCount == 90 * 70)
      try capture.end(with: SIGTERM)
    }
  }
}

/// Counts the white pixels of each frame, on a thread of its own.
private final class WhiteWatch: Sendable {
  struct Frame {
    let capturedAtNs: UInt64
    let white: Int
  }

  private let seen = Mutex<[Frame]>([])
  private let stop: StopSignal
  private let ended: StopSignal

  init(_ world: ScreenWorld) throws {
    stop = try StopSignal()
    ended = try StopSignal()
    let (stream, group) = (world.stream, world.group)
    try startThread(named: "watch") { [self] in
      defer { ended.raise() }
      var options = SubscriberOptions()
      options.start = .oldest
      guard
        var subscriber = try? Subscriber(
          stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(60)))
      else { return }
      while !stop.isRaised {
        guard case .frame(let lease)? = try? subscriber.next(until: .after(.milliseconds(50)))
        else { continue }
        let capturedAtNs = lease.metadata.capturedAtNs
        let white = TakenFrame(lease).count(of: 0xFFFFFF)
        seen.withLock { $0.append(Frame(capturedAtNs: capturedAtNs, white: white)) }
      }
    }
  }

  var frames: [Frame] { seen.withLock { $0 } }

  func waitForFrame(_ isWanted: @escaping (Frame) -> Bool) throws {
    try waitUntil("such a frame comes") { frames.contains(where: isWanted) }
  }

  func end() throws {
    stop.raise()
    try waitUntil("the watch has ended") { ended.isRaised }
  }
}
