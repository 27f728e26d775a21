import AppGroup
import FrameBus
import Platform

/// Publishes a recording's frames anew, as they were: bytes, format and metadata. Only their
/// numbers are new, and the time of capture, which is now: the clock of the old one may be gone.
package struct Republisher: ~Copyable {
  private var publisher: Publisher

  /// - Parameters:
  ///   - first: the first frame, whose format sizes the slots.
  ///   - streamChanged: told when the stream comes up, changes and goes.
  package init(
    _ stream: StreamName, in group: AppGroup, first: RecordedFrame,
    streamChanged: (@Sendable (StreamChange) -> Void)? = nil
  ) throws(PlayError) {
    var options = PublisherOptions()
    options.streamChanged = streamChanged
    // As for any file: who subscribes losslessly is waited for.
    options.allowsLossless = true
    // A file waits for as long as its slowest reader gets on.
    options.losslessStallBudget = nil
    options.slotBytes = max(1, first.byteCount)
    do throws(PublisherError) {
      publisher = try Publisher(stream, in: group, format: first.format, options: options)
    } catch { throw .publishing("\(error)") }
  }

  /// Waits for somebody to publish for.
  /// - Returns: false when the signal was raised first.
  package func waitForSubscriber(stop: StopSignal) -> Bool {
    publisher.waitForSubscriber(until: .never, stop: stop)
  }

  /// - Returns: false when the signal was raised first.
  package mutating func publish(
    _ frame: RecordedFrame, from reader: RecordingReader, stop: StopSignal
  ) throws(PlayError) -> Bool {
    do throws(PublisherError) {
      try publisher.setFormat(frame.format)
    } catch { throw .publishing("\(error)") }
    var loan: FrameLoan
    do throws(LoanError) {
      loan = try publisher.loan(waitingUntil: .never, stop: stop)
    } catch {
      if stop.isRaised { return false }
      throw .publishing("\(error)")
    }
    loan.metadata = frame.metadata
    loan.metadata.capturedAtNs = monotonicNowNs()
    guard frame.byteCount <= loan.byteCapacity else {
      throw .publishing("frame \(frame.sequence) is longer than its format says")
    }
    var bytes = loan.bytes
    do throws(RecordingReadError) {
      try reader.readBytes(of: frame, into: &bytes)
    } catch { throw .reading(error) }
    loan.publish(byteCount: frame.byteCount)
    return true
  }

  package consuming func finish(_ reason: FinishReason) { publisher.finish(reason) }
}
