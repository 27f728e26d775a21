import AppGroup
import FrameBus
import Platform

/// Publishes a recording's frames again with the same bytes, format and metadata. Their numbers are
/// new, and so is the time of capture, which is now: the original clock may be gone. Frames that no
/// subscriber needs, because all state a lower rate, are left out, except before a pause.
package struct Republisher: ~Copyable {
  private var publisher: Publisher
  private var selection = FrameSelection()

  /// - Parameters:
  ///   - first: the first frame, whose format determines the slot size.
  ///   - streamChanged: called when the stream starts, changes or ends.
  package init(
    _ stream: StreamName, in group: AppGroup, first: RecordedFrame,
    streamChanged: (@Sendable (StreamChange) -> Void)? = nil
  ) throws(PlayError) {
    var options = PublisherOptions()
    options.streamChanged = streamChanged
    // As with any file, the publisher waits for lossless subscribers.
    options.allowsLossless = true
    // A file waits for as long as its slowest subscriber makes progress.
    options.losslessStallBudget = nil
    options.slotBytes = max(1, first.byteCount)
    do throws(PublisherError) {
      publisher = try Publisher(stream, in: group, format: first.format, options: options)
    } catch { throw .publishing("\(error)") }
  }

  /// Waits for a subscriber.
  /// - Returns: false if the signal was raised first.
  package func waitForSubscriber(stop: StopSignal) -> Bool {
    publisher.waitForSubscriber(until: .never, stop: stop)
  }

  /// - Parameter next: the frame that follows; nil for the last one, which is never left out.
  /// - Returns: false if the signal was raised first.
  package mutating func publish(
    _ frame: RecordedFrame, before next: RecordedFrame?, from reader: RecordingReader,
    stop: StopSignal
  ) throws(PlayError) -> Bool {
    let nextNs = next?.metadata.ptsNs
    guard selection.needs(frame.metadata.ptsNs, before: nextNs, publisher.demand) else {
      return !stop.isRaised
    }
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
      throw .publishing("frame \(frame.sequence) is longer than its format allows")
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
