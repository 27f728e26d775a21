import AppGroup
import Capture
import FrameBus
import Platform
import TestSupport
import Testing

@testable import Upload

/// The code that docs/guides lets the reader write, as it runs. TidyTests compares the files beside
/// this one with the guides.
@Suite struct GuideTests {
  private let root: TemporaryRoot
  private let group: AppGroup
  private let stream: StreamName

  init() throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(.local, root: root.path)
    stream = try StreamName("screen")
  }

  private func publisher() throws -> Publisher {
    try Publisher(stream, in: group, format: .video(.xrgb8888, width: 64, height: 4))
  }

  @Test func verbListsStreamsWithoutSubscribers() throws {
    let verb = try IdleCommand.parse(["--root", root.path])
    #expect(try verb.idleStreams() == [])
    let publisher = try publisher()
    #expect(try verb.idleStreams() == ["screen"])
    let subscriber = try Subscriber(stream, in: group)
    #expect(try verb.idleStreams() == [])
    withExtendedLifetime(subscriber) {}
    publisher.finish(.ended)
  }

  @Test func sourcePublishesItsColour() throws {
    let session = CaptureSession(group: group, stream: stream, stop: try StopSignal())
    try startThread(named: "source") {
      var source = ColorSource(0xff8000)
      try? source.run(in: session)
    }
    defer { session.stop.raise() }
    var subscriber = try Subscriber(
      stream, in: group, waitingForPublisherUntil: .after(.seconds(60)))
    guard case .frame(let lease) = try subscriber.next(until: .after(.seconds(60))) else {
      throw HarnessError("no frame arrived")
    }
    // SAFETY: the bytes are copied while the lease holds them.
    let pixel = unsafe lease.withUnsafeBytes { unsafe Array($0.prefix(4)) }
    #expect(pixel == [0x00, 0x80, 0xff, 0x00])
  }

  @Test func destinationTakesEachFrame() throws {
    var plan = UploadPlan(stream: stream)
    plan.frameLimit = 1
    let destination = LinesDestination()
    #expect(DestinationMaker.lines.kinds == [.lines])
    var publisher = try publisher()
    let runner = UploadRunner(plan, to: destination, in: group, stop: try StopSignal())
    _ = try publisher.loan().publish()
    #expect(try runner.run().progress.frames == 1)
    #expect(destination.byteCount > 0)
    publisher.finish(.ended)
  }
}

extension DestinationKind {
  /// The row of the guide.
  static let lines = DestinationKind(
    "lines", ["lines"], "One line per frame, on standard output", needs: .nothing)
}
