import AppGroup
import FrameBus
import Platform

/// Subscribes to a stream and feeds its frames to a destination until the plan is fulfilled, the
/// publisher finishes, or the signal is raised. It runs on the thread that calls `run`.
///
/// A publisher that dies is waited for: when it is back, at whatever resolution, frames go on to
/// the same destination.
public final class UploadRunner {
  /// A screen that stands still publishes nothing. After so long, its newest frame is sent again,
  /// so that a player never waits a whole second.
  private static let stillAfterNs: UInt64 = 700_000_000
  /// The first repeated frame is stamped so much earlier than now, because a new frame captured
  /// before now may still be on its way and must come after it.
  private static let stillMarginNs: Int64 = 200_000_000

  let plan: UploadPlan
  let group: AppGroup
  let stop: StopSignal
  let report: @Sendable (UploadReport) -> Void
  private let destination: any Destination
  private let progressNs: UInt64

  private var statistics = UploadStatistics()
  private var timeline = Timeline()
  /// Of subscriptions before the present one.
  private var dropsBefore: UInt64 = 0
  private var format: FrameFormat?
  private var newest: HeldFrame?
  private var newestSentNs: UInt64 = 0
  private var isStill = false
  private var attachedNs: UInt64 = 0
  private var reportAtNs: UInt64 = 0
  private var end: UploadEnd?

  public init(
    _ plan: UploadPlan, to destination: any Destination, in group: AppGroup, stop: StopSignal,
    report: @escaping @Sendable (UploadReport) -> Void = { _ in }
  ) {
    self.plan = plan
    self.destination = destination
    self.group = group
    self.stop = stop
    self.report = report
    progressNs = Self.nanoseconds(plan.progressInterval)
  }

  /// Runs to the end, and closes the destination: complete, or after an error as it is.
  public func run() throws(UploadError) -> UploadSummary {
    do throws(DestinationError) {
      try destination.prepare()
    } catch {
      throw .destination(error)
    }
    guard var attachment = try attach(holds: destination.heldFrames + 1) else {
      return summary(drops: 0, end: .stopped)
    }
    do throws(UploadError) {
      let end = try pump(&attachment)
      newest = nil
      try finish()
      return summary(drops: drops(of: attachment), end: end)
    } catch {
      newest = nil
      destination.abandon()
      throw error
    }
  }

  private func finish() throws(UploadError) {
    do throws(DestinationError) {
      try destination.finish()
    } catch {
      throw .destination(error)
    }
  }

  private func summary(drops: UInt64, end: UploadEnd) -> UploadSummary {
    UploadSummary(
      progress: statistics.summary(drops: drops, byteCount: destination.byteCount),
      output: destination.output, end: end)
  }

  // MARK: One frame after the other

  private func pump(_ attachment: inout Attachment) throws(UploadError) -> UploadEnd {
    attachedNs = monotonicNowNs()
    reportAtNs = attachedNs &+ progressNs
    while end == nil {
      // Room first, frame then: what is received is the newest at the moment it can be used.
      if try hasRoom() { try receive(&attachment) }
      if end == nil { try repeatIfStill() }
      reportIfDue(attachment)
      try checkLimits()
    }
    return end ?? .stopped
  }

  private func drops(of attachment: borrowing Attachment) -> UInt64 {
    dropsBefore + attachment.subscriber.droppedCount
  }

  private func hasRoom() throws(UploadError) -> Bool {
    do throws(DestinationError) {
      return try destination.waitForRoom(until: nextWake, stop: stop)
    } catch {
      throw .destination(error)
    }
  }

  private func receive(_ attachment: inout Attachment) throws(UploadError) {
    let reception: Reception
    do throws(ReceiveError) {
      reception = try attachment.subscriber.next(until: nextWake, stop: stop)
    } catch {
      return try recover(from: error, &attachment)
    }
    switch consume reception {
    case .frame(let lease): try send(HeldFrame(lease), isRepeatable: !attachment.isLossless)
    case .timedOut: break
    case .stopped: end = .stopped
    case .finished(let reason): end = reason == .failed ? .publisherFailed : .publisherFinished
    }
  }

  /// Goes on after an error that has a way out.
  private func recover(
    from error: ReceiveError, _ attachment: inout Attachment
  ) throws(UploadError) {
    switch error {
    case .holdsExhausted:
      // Fewer holds than wished were granted: the frame kept for a still screen goes first, and
      // the destination releases the others soon.
      newest = nil
      sleep(until: .after(.milliseconds(1)))
    case .refused(_, .losslessNotOffered) where plan.policy == nil:
      // A live source took over from one that waited for us.
      dropsBefore = drops(of: attachment)
      guard let next = try attach(holds: destination.heldFrames + 1) else {
        end = .stopped
        return
      }
      attachment = next
    default: throw .cannotReceive(error)
    }
  }

  private func send(_ frame: HeldFrame, isRepeatable: Bool) throws(UploadError) {
    let nowNs = monotonicNowNs()
    let metadata = frame.lease.metadata
    statistics.countFrame(capturedAtNs: metadata.capturedAtNs, nowNs: nowNs)
    if frame.lease.format != format {
      format = frame.lease.format
      report(.format(frame.lease.format))
    }
    let ptsNs = timeline.place(
      ptsNs: metadata.ptsNs, capturedAtNs: metadata.capturedAtNs,
      generation: frame.lease.generation)
    try accept(frame, ptsNs: ptsNs)
    newestSentNs = nowNs
    isStill = false
    // A lossless stream is a file's: it has its own time, in which nothing is missing.
    newest = isRepeatable && destination.wantsRepeatedFrames ? frame : nil
    let limit = min(plan.frameLimit ?? .max, destination.frameLimit ?? .max)
    if statistics.frames >= limit { end = .limitReached }
  }

  private func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(UploadError) {
    do throws(DestinationError) {
      try destination.accept(frame, ptsNs: ptsNs)
    } catch {
      throw .destination(error)
    }
  }

  // MARK: A screen that stands still

  private func repeatIfStill() throws(UploadError) {
    let nowNs = monotonicNowNs()
    guard let newest, nowNs >= newestSentNs &+ Self.stillAfterNs, try hasRoomNow() else { return }
    let elapsedNs = Int64(clamping: nowNs &- newestSentNs)
    let ptsNs = timeline.placeRepeated(afterNs: elapsedNs &- (isStill ? 0 : Self.stillMarginNs))
    try accept(newest, ptsNs: ptsNs)
    statistics.countRepeatedFrame()
    newestSentNs = nowNs
    isStill = true
  }

  private func hasRoomNow() throws(UploadError) -> Bool {
    do throws(DestinationError) {
      return try destination.waitForRoom(until: .now, stop: nil)
    } catch {
      throw .destination(error)
    }
  }

  // MARK: Time

  /// The next moment at which there is something to do without a frame.
  private var nextWake: Deadline {
    var wakeNs = reportAtNs
    if newest != nil { wakeNs = min(wakeNs, newestSentNs &+ Self.stillAfterNs) }
    if let endNs { wakeNs = min(wakeNs, endNs) }
    return Deadline(monotonicNs: wakeNs)
  }

  private var endNs: UInt64? {
    guard let duration = plan.duration, let first = statistics.firstArrivalNs else { return nil }
    return first &+ Self.nanoseconds(duration)
  }

  private func checkLimits() throws(UploadError) {
    guard end == nil else { return }
    let nowNs = monotonicNowNs()
    if stop.isRaised { end = .stopped }
    if let endNs, nowNs >= endNs { end = .limitReached }
    if let patience = plan.firstFrameWithin, statistics.frames == 0, end == nil,
      nowNs >= attachedNs &+ Self.nanoseconds(patience)
    {
      throw .noFrame(plan.stream, seconds: patience.components.seconds)
    }
  }

  private func reportIfDue(_ attachment: borrowing Attachment) {
    let nowNs = monotonicNowNs()
    guard nowNs >= reportAtNs else { return }
    reportAtNs = nowNs &+ progressNs
    report(
      .progress(
        statistics.progress(
          drops: drops(of: attachment), byteCount: destination.byteCount, nowNs: nowNs)))
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    let parts = duration.components
    let whole = UInt64(clamping: parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    // Far enough for ever, and small enough to be added to any time.
    if whole.overflow || whole.partialValue > UInt64.max / 4 { return UInt64.max / 4 }
    return whole.partialValue + UInt64(clamping: parts.attoseconds / 1_000_000_000)
  }
}
