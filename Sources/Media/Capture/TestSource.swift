import FrameBus
import Platform

/// Publishes a test pattern at a constant rate. Idle while there are no subscribers.
public struct TestSource: FrameSource {
  private let pattern: TestPattern
  private let width: Int
  private let height: Int
  private let rate: FrameRate
  private let orientation: Orientation

  /// - Parameter orientation: the orientation in the metadata; the picture is drawn upright.
  public init(
    _ style: TestPatternStyle = .bars, width: Int = 1280, height: Int = 720,
    rate: FrameRate = FrameRate(30, 1), orientation: Orientation = .up
  ) {
    pattern = TestPattern(style)
    self.width = width
    self.height = height
    self.rate = rate
    self.orientation = orientation
  }

  public mutating func run(in session: CaptureSession) throws(PublishingError) {
    let format: FrameFormat
    do {
      format = try .video(.xrgb8888, width: width, height: height, frameRate: rate)
    } catch { throw .format(error) }
    var options = PublisherOptions()
    options.streamChanged = session.streamChanged
    let publisher: Publisher
    do {
      publisher = try Publisher(
        session.stream, in: session.group, format: format, options: options)
    } catch { throw .publisher(error) }
    try session.drive(publisher) { (publisher) throws(PublishingError) in
      try publish(with: &publisher, format: format, in: session)
    }
  }

  private func publish(
    with publisher: inout Publisher, format: FrameFormat, in session: CaptureSession
  ) throws(PublishingError) {
    var pacer = FramePacer(rate: rate, startNs: startNs())
    var sequence: UInt64 = 1
    while !session.isOver {
      let isIdle = publisher.subscriberCount == 0
      guard session.waitForSubscriber(of: publisher) else { return }
      if isIdle { pacer.restart(atNs: startNs()) }
      guard session.sleep(until: Deadline(monotonicNs: pacer.deadlineNs)) else { return }
      var loan: FrameLoan
      do { loan = try publisher.loan() } catch { throw .loan(error) }
      let nowNs = monotonicNowNs()
      draw(into: &loan, stride: format.planes[0].stride, sequence: sequence, nowNs: nowNs)
      sequence = loan.publish().rawValue + 1
      session.countFrame()
      let missedBefore = pacer.missedCount
      pacer.advance(nowNs: monotonicNowNs())
      session.countMissedDeadlines(pacer.missedCount - missedBefore)
    }
  }

  /// The start of the frame grid: a flash begins exactly when a frame is due.
  private func startNs() -> UInt64 {
    let nowNs = monotonicNowNs()
    let secondNs: UInt64 = 1_000_000_000
    return pattern.style == .flash ? (nowNs / secondNs + 1) * secondNs : nowNs
  }

  private func draw(into loan: inout FrameLoan, stride: Int, sequence: UInt64, nowNs: UInt64) {
    loan.metadata.ptsNs = Int64(nowNs)
    loan.metadata.capturedAtNs = nowNs
    loan.metadata.orientation = orientation
    var bytes = loan.bytes
    pattern.draw(
      into: &bytes, width: width, height: height, strideBytes: stride, sequence: sequence,
      milliseconds: nowNs / 1_000_000)
  }
}

extension CaptureSession {
  /// Sleeps until a time or until the run is over. Returns false if it is over.
  package func sleep(until moment: Deadline) -> Bool {
    let end = min(moment.monotonicNs, deadline.monotonicNs)
    // A failed poll (no memory) costs one early frame; there is no remedy.
    _ = try? firstReadable(stop.descriptorNumber, until: Deadline(monotonicNs: end))
    return !isOver
  }
}
