import Capture
import FrameBus
import Platform

/// Publishes pictures of one colour, one a second. Idle while there are no subscribers.
public struct ColorSource: FrameSource {
  private let color: UInt32

  /// - Parameter color: 0xRRGGBB.
  public init(_ color: UInt32) { self.color = color }

  public mutating func run(in session: CaptureSession) throws(PublishingError) {
    let format: FrameFormat
    do {
      format = try .video(.xrgb8888, width: 640, height: 360, frameRate: FrameRate(1))
    } catch { throw .format(error) }
    var options = PublisherOptions()
    options.streamChanged = session.streamChanged
    let publisher: Publisher
    do {
      publisher = try Publisher(
        session.stream, in: session.group, format: format, options: options)
    } catch { throw .publisher(error) }
    try session.drive(publisher) { (publisher) throws(PublishingError) in
      try publish(with: &publisher, in: session)
    }
  }

  private func publish(
    with publisher: inout Publisher, in session: CaptureSession
  ) throws(PublishingError) {
    var pacer = FramePacer(rate: FrameRate(1), startNs: monotonicNowNs())
    while session.waitForSubscriber(of: publisher),
      session.sleep(until: Deadline(monotonicNs: pacer.deadlineNs))
    {
      var loan: FrameLoan
      do { loan = try publisher.loan() } catch { throw .loan(error) }
      var bytes = loan.bytes
      for offset in stride(from: 0, to: bytes.byteCount, by: 4) {
        bytes.storeBytes(of: color, toByteOffset: offset, as: UInt32.self)
      }
      _ = loan.publish()
      session.countFrame()
      pacer.advance(nowNs: monotonicNowNs())
    }
  }
}
