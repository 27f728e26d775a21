import FrameBus
import Platform

/// Publishes a test pattern at a constant rate, no faster and no larger than its subscribers need
/// it. Idle while there are no subscribers.
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

  /// Publishes pictures until the session ends.
  public mutating func run(in session: CaptureSession) throws(PublishingError) {
    let format = try format(of: PixelRect(x: 0, y: 0, width: width, height: height))
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
    let whole = PixelRect(x: 0, y: 0, width: width, height: height)
    var extent = CaptureExtent(rate: rate)
    var format = format
    var pacer = FramePacer(rate: rate, startNs: startNs())
    var sequence: UInt64 = 1
    while !session.isOver {
      let isIdle = publisher.subscriberCount == 0
      guard session.waitForSubscriber(of: publisher) else { return }
      if isIdle {
        pacer.restart(atNs: startNs())
        extent.restart()
      }
      repeat {
        let due = Deadline(monotonicNs: pacer.deadlineNs)
        guard session.sleep(until: min(due, .after(CaptureExtent.demandInterval)))
        else { return }
        let before = extent
        extent.follow(publisher.demand, of: whole, nowNs: monotonicNowNs())
        if extent.rate != before.rate { pacer = FramePacer(rate: extent.rate, startNs: startNs()) }
        if extent.divisor != before.divisor {
          format = try self.format(of: extent.picture(of: whole))
          do { try publisher.setFormat(format) } catch { throw .publisher(error) }
        }
      } while !Deadline(monotonicNs: pacer.deadlineNs).isPast
      var loan: FrameLoan
      do { loan = try publisher.loan() } catch { throw .loan(error) }
      let nowNs = monotonicNowNs()
      if extent.divisor > 1 { loan.metadata.flags.insert(.reduced) }
      draw(into: &loan, format, sequence: sequence, nowNs: nowNs)
      sequence = loan.publish(byteCount: format.byteCount).rawValue + 1
      session.countFrame()
      let missedBefore = pacer.missedCount
      pacer.advance(nowNs: monotonicNowNs())
      session.countMissedDeadlines(pacer.missedCount - missedBefore)
    }
  }

  private func format(of picture: PixelRect) throws(PublishingError) -> FrameFormat {
    do {
      return try .video(
        .xrgb8888, width: picture.width, height: picture.height, frameRate: rate)
    } catch { throw .format(error) }
  }

  /// The start of the frame grid: a flash begins exactly when a frame is due.
  private func startNs() -> UInt64 {
    let nowNs = monotonicNowNs()
    let secondNs: UInt64 = 1_000_000_000
    return pattern.style == .flash ? (nowNs / secondNs + 1) * secondNs : nowNs
  }

  private func draw(
    into loan: inout FrameLoan, _ format: FrameFormat, sequence: UInt64, nowNs: UInt64
  ) {
    loan.metadata.ptsNs = Int64(nowNs)
    loan.metadata.capturedAtNs = nowNs
    loan.metadata.orientation = orientation
    var bytes = loan.bytes
    pattern.draw(
      into: &bytes, width: format.width, height: format.height,
      strideBytes: format.planes[0].stride, sequence: sequence, milliseconds: nowNs / 1_000_000)
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
