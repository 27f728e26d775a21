import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// Messages between publisher and subscriber besides frames.
@Suite struct StateTests {
  @Test func pauseIsReportedBetweenTheFramesBeforeAndAfter() throws {
    let world = try World()
    var publisher = try world.publisher()
    let story = Story()
    var subscriber = try world.subscriber(.keepLatest(2)) {
      $0.onEvent = { story.add("\($0)") }
    }
    func receive() throws {
      while let number = try receivedNumber(&subscriber) { story.add("frame \(number)") }
    }
    try publishNumbered(&publisher)
    publisher.pause(.transition)
    #expect(throws: LoanError.paused) { _ = try publisher.loan() }
    let paused = try #require(try listStreams(in: world.group).first)
    #expect(paused.state == .paused && paused.pauseReason == .transition)
    #expect(subscriber.pauseReason == .transition)
    try receive()
    try receive()
    publisher.resume()
    try publishNumbered(&publisher)
    try receive()
    publisher.pause()
    publisher.resume()
    try publishNumbered(&publisher)
    try receive()
    let live = try #require(try listStreams(in: world.group).first)
    #expect(live.state == .live && live.pauseReason == nil)
    #expect(subscriber.pauseReason == nil)
    #expect(
      story.lines == ["frame 1", "paused(transition)", "resumed", "frame 2", "frame 3"],
      "a pause without a poll is not an event")
  }

  @Test func reasonThatChangesDuringAPauseIsReportedOnce() throws {
    let world = try World()
    var publisher = try world.publisher()
    let story = Story()
    var subscriber = try world.subscriber(.latest) {
      $0.onEvent = { story.add("\($0)") }
    }
    for reason in [.unavailable, .unavailable, .transition] as [PauseReason] {
      publisher.pause(reason)
      for _ in 0..<2 { _ = try receivedNumber(&subscriber) }
    }
    publisher.resume()
    _ = try receivedNumber(&subscriber)
    #expect(story.lines == ["paused(unavailable)", "paused(transition)", "resumed"])
  }

  @Test func sleeperReceivesAPause() throws {
    let world = try World()
    var publisher = try world.publisher()
    let worker = try world.worker("subscribe")
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    publisher.pause(.unavailable)
    try worker.waitForOutput("event paused(unavailable)")
    publisher.pause(.transition)
    try worker.waitForOutput("event paused(transition)")
    publisher.resume()
    try worker.waitForOutput("event resumed")
    publisher.pause()
    try worker.waitForOutput("event paused(requested)")
    publisher.finish(.stopped)
    try worker.waitForOutput("finished stopped")
  }

  @Test func publisherReceivesTheHighestFeedbackOfItsSubscribers() throws {
    let world = try World()
    let publisher = try world.publisher()
    var first = try world.subscriber()
    var second = try world.subscriber()
    try waitUntil("both are seated") { publisher.subscriberCount == 2 }
    #expect(publisher.feedback == Feedback())
    first.feedback = Feedback(utilization: 0.25, requestedRate: FrameRate(30))
    second.feedback = Feedback(utilization: 0.5, requestedRate: FrameRate(24000, 1001))
    #expect(publisher.feedback == Feedback(utilization: 0.5, requestedRate: FrameRate(30)))
    first.feedback = Feedback(utilization: 7, requestedRate: FrameRate(1_000_000))
    #expect(
      publisher.feedback == Feedback(utilization: 1, requestedRate: FrameRate(24000, 1001)),
      "what is out of range is bounded, or was not said")
    first.feedback = Feedback(utilization: .nan, requestedRate: FrameRate(-1))
    #expect(publisher.feedback.utilization == 0.5)
  }

  @Test func feedbackFullOfLiesStaysInBounds() throws {
    let world = try World()
    let publisher = try world.publisher()
    let peer = try HostilePeer("pages", in: world)
    try peer.program.waitForOutput("ready")
    for _ in 1...100_000 {
      let feedback = publisher.feedback
      guard (0...1).contains(feedback.utilization) else {
        Issue.record("utilization \(feedback.utilization)")
        return
      }
      guard let rate = feedback.requestedRate else { continue }
      guard rate.denominator > 0, rate.numerator / rate.denominator <= Feedback.maximumRate else {
        Issue.record("rate \(rate)")
        return
      }
    }
  }
}

extension StateTests {
  @Test func streamChangedReportsStartChangesAndEndOnceEach() throws {
    let world = try World()
    let story = Story()
    do {
      var publisher = try world.publisher {
        $0.streamChanged = { change in
          switch change {
          case .up(let format): story.add("up \(format.width)")
          case .format(let format): story.add("format \(format.width)")
          case .paused(let reason): story.add("paused \(reason)")
          case .resumed: story.add("resumed")
          case .down:
            // Gone for others too.
            let left = try? listStreams(in: world.group)
            story.add("down \(left?.count ?? -1)")
          }
        }
      }
      try publisher.setFormat(publisher.format)
      try publisher.setFormat(try .video(.xrgb8888, width: 128, height: 4))
      publisher.resume()
      publisher.pause(.unavailable)
      publisher.pause(.unavailable)
      publisher.pause(.transition)
      publisher.resume()
      publisher.resume()
    }
    let pauses = ["paused unavailable", "paused transition", "resumed"]
    #expect(story.lines == ["up 64", "format 128"] + pauses + ["down 0"])
  }
}

/// Lines in the order in which they were added.
private final class Story: Sendable {
  private let added = Mutex<[String]>([])
  func add(_ line: String) { added.withLock { $0.append(line) } }
  var lines: [String] { added.withLock { $0 } }
}
