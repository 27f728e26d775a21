import AppGroup
import FrameBus
import Platform

/// Writes a stream's frames into a file as they are, each straight from its slot to the disk where
/// the kernel can do that, several at a time.
///
/// It never holds up a publisher that does not wait for it: while the disk is slow, frames are
/// dropped, and counted. It runs on the thread that calls `run`.
public struct Recorder: ~Copyable {
  /// Writes under way; as many frames are held.
  private static let depth = 16
  /// How much of the file is allocated at a time.
  private static let reservedBytes: UInt64 = 64 << 20
  private static let reportIntervalNs: UInt64 = 1_000_000_000

  private let plan: RecordingPlan
  private let stop: StopSignal
  private let report: @Sendable (RecordingReport) -> Void
  private var source: WholeStream
  private var writer: BlockWriter
  private let head: FileHead

  /// Where the next frame goes, and how far the file is allocated.
  private var position = UInt64(HeadBlock.blockBytes)
  private var reservedUpTo = UInt64(HeadBlock.blockBytes)
  /// What is being written, by the token of its write. Each keeps its slot as it is.
  private var underWay: [FrameUnderWay?]
  private var entries: [RecordingIndex.Entry] = []
  /// Where the last of them ends.
  private var endOfFrames = UInt64(HeadBlock.blockBytes)
  private var figures = RecordingFigures()
  private var firstFrameNs: UInt64?
  private var reportAtNs = monotonicNowNs() + Self.reportIntervalNs
  private var end: RecordingEnd?

  /// Makes the file, and attaches to the stream, waiting for its publisher.
  public init(
    _ plan: RecordingPlan, in group: AppGroup, stop: StopSignal,
    report: @escaping @Sendable (RecordingReport) -> Void = { _ in }
  ) throws(RecordingError) {
    self.plan = plan
    self.stop = stop
    self.report = report
    var random = SystemRandomNumberGenerator()
    head = FileHead(
      id: HeadBlock.FileID(random.next(), random.next()), stream: plan.stream, wallNs: wallNowNs(),
      monotonicNs: monotonicNowNs())
    underWay = Array(repeating: nil, count: Self.depth)
    // An existing file is replaced only when there is a stream to record, but what cannot be
    // written is said before a long wait.
    do throws(SystemError) { try OutputFile(plan.path).checkWritable() } catch {
      throw .file(error)
    }
    let source = try Self.attach(plan, group, stop, report)
    let writer = try Self.makeWriter(plan.path, head)
    figures.isDirect = writer.file.isDirect
    figures.ringRefusal = writer.ringRefusal
    self.source = source
    self.writer = writer
    report(.progress(figures))
  }

  private static func attach(
    _ plan: RecordingPlan, _ group: AppGroup, _ stop: StopSignal,
    _ report: @escaping @Sendable (RecordingReport) -> Void
  ) throws(RecordingError) -> WholeStream {
    var wishes = WholeStream.Wishes()
    wishes.policy = plan.policy
    wishes.holds = depth
    wishes.onEvent = { report(.event($0)) }
    do throws(SubscriberError) {
      do throws(SubscriberError) {
        return try WholeStream(
          plan.stream, in: group, wishes, waitingForPublisherUntil: nil, stop: stop)
      } catch {
        guard case .noSuchStream = error else { throw error }
        report(.waitingForStream(plan.stream))
        return try WholeStream(
          plan.stream, in: group, wishes, waitingForPublisherUntil: .never, stop: stop)
      }
    } catch { throw .cannotSubscribe(error) }
  }

  private static func makeWriter(
    _ path: String, _ head: FileHead
  ) throws(RecordingError) -> BlockWriter {
    do throws(SystemError) {
      var file = try BlockFile(creating: path)
      try file.write(head.block.padded(), at: 0)
      file.setDirect(true)
      return try BlockWriter(file, depth: depth)
    } catch { throw .file(error) }
  }

  /// Records until a limit is reached, the stream ends, or the signal is raised.
  /// - Throws: also when the disk is full; then what was written before is complete.
  public consuming func run() throws(RecordingError) -> RecordingSummary {
    let startedAtNs = monotonicNowNs()
    var failure: RecordingError?
    do throws(RecordingError) {
      while end == nil {
        try collect(isWaiting: writer.inFlight == Self.depth)
        try receive()
        checkLimits()
        reportIfDue()
      }
    } catch { failure = error }
    let lateFailure = finish()
    figures.elapsedNs = monotonicNowNs() - (firstFrameNs ?? startedAtNs)
    if let failure = failure ?? lateFailure { throw failure }
    return RecordingSummary(figures: figures, end: end ?? .stopped)
  }

  private mutating func receive() throws(RecordingError) {
    let reception: Reception
    do throws(ReceiveError) {
      reception = try source.next(until: nextWake, stop: stop)
    } catch {
      // As many writes are under way as frames may be held: one has to end first.
      guard case .holdsExhausted = error, writer.inFlight > 0 else { throw .cannotReceive(error) }
      return try collect(isWaiting: true)
    }
    switch consume reception {
    case .frame(let lease): try write(FrameUnderWay(lease, at: position))
    case .timedOut: break
    case .stopped: end = .stopped
    case .finished(let reason): end = reason == .failed ? .publisherFailed : .publisherFinished
    }
  }

  private mutating func write(_ frame: FrameUnderWay) throws(RecordingError) {
    if firstFrameNs == nil { firstFrameNs = monotonicNowNs() }
    position = frame.frame.end
    if position > reservedUpTo {
      let next = position + Self.reservedBytes
      writer.file.reserve(reservedUpTo..<next)
      reservedUpTo = next
    }
    let block = frame.frame.block(of: head.id)
    do throws(SystemError) {
      // SAFETY: `underWay` keeps the lease, and so the slot as it is, until the write has ended.
      let token = try unsafe frame.lease.withUnsafeBytes { (body) throws(SystemError) in
        try unsafe writer.write(head: block, body: body, at: frame.frame.offset)
      }
      underWay[token] = frame
    } catch { throw .file(error) }
    figures.received += 1
    if let limit = plan.frameLimit, figures.received >= UInt64(limit) { end = .limitReached }
  }

  /// Takes note of the writes that have ended, waiting for one if asked to.
  private mutating func collect(isWaiting: Bool) throws(RecordingError) {
    var isWaiting = isWaiting
    do throws(SystemError) {
      while let completion = try writer.nextCompletion(isWaiting: isWaiting) {
        isWaiting = false
        guard let written = underWay[completion.token]?.frame else { continue }
        // The slot is the publisher's again.
        underWay[completion.token] = nil
        if let error = completion.error { throw error }
        entries.append(
          RecordingIndex.Entry(offset: written.offset, sequence: written.sequence.rawValue))
        endOfFrames = max(endOfFrames, written.end)
        figures.frames += 1
        figures.byteCount += UInt64(written.byteCount)
      }
    } catch { throw .file(error) }
  }

  /// Waits for what is under way, and writes the index. After a failure too, as far as it goes:
  /// without an index a player looks for the frames itself.
  /// - Returns: the first thing that failed.
  private mutating func finish() -> RecordingError? {
    var failure: RecordingError?
    while writer.inFlight > 0 {
      let before = writer.inFlight
      do throws(RecordingError) { try collect(isWaiting: true) } catch {
        failure = failure ?? error
        // A ring that answers no more: what is under way stays unknown.
        if writer.inFlight == before { break }
      }
    }
    figures.dropped = source.droppedCount
    entries.sort { $0.offset < $1.offset }
    do throws(SystemError) { try writeIndex() } catch { failure = failure ?? .file(error) }
    return failure
  }

  private mutating func writeIndex() throws(SystemError) {
    // From behind the last whole frame: what failed behind it, and what was allocated ahead, goes.
    let indexOffset = endOfFrames
    try writer.file.truncate(to: indexOffset)
    let index = entries.bytes
    let padded = index.padded()
    let fileEnd = FileEnd(
      offset: indexOffset + UInt64(padded.count), indexOffset: indexOffset,
      entryCount: UInt64(entries.count), dropped: figures.dropped,
      indexChecksum: checksum(of: index[...]))
    writer.file.setDirect(false)
    try writer.file.write(padded, at: indexOffset)
    try writer.file.write(fileEnd.block(of: head.id).padded(), at: fileEnd.offset)
    try writer.file.sync()
  }

  // MARK: Time

  /// The next moment at which there is something to do without a frame.
  private var nextWake: Deadline { Deadline(monotonicNs: min(reportAtNs, endNs ?? .max)) }

  private var endNs: UInt64? {
    guard let duration = plan.duration, let firstFrameNs else { return nil }
    let sum = firstFrameNs.addingReportingOverflow(duration.clampedNanoseconds)
    return sum.overflow ? nil : sum.partialValue
  }

  private mutating func checkLimits() {
    if stop.isRaised, end == nil { end = .stopped }
    if let endNs, monotonicNowNs() >= endNs, end == nil { end = .limitReached }
  }

  private mutating func reportIfDue() {
    let nowNs = monotonicNowNs()
    guard nowNs >= reportAtNs else { return }
    reportAtNs = nowNs + Self.reportIntervalNs
    figures.elapsedNs = nowNs - (firstFrameNs ?? nowNs)
    figures.dropped = source.droppedCount
    figures.isDirect = writer.file.isDirect
    report(.progress(figures))
  }
}

/// A frame that is being written: its head's contents, and its bytes kept as they are.
private final class FrameUnderWay: Sendable {
  let frame: RecordedFrame
  let lease: FrameLease

  init(_ lease: consuming FrameLease, at offset: UInt64) {
    frame = RecordedFrame(
      offset: offset, generation: lease.generation, droppedBefore: lease.droppedBefore,
      record: FrameRecord(lease))
    self.lease = lease
  }
}

extension [UInt8] {
  /// With zeros up to a whole number of blocks.
  fileprivate func padded() -> [UInt8] {
    self + [UInt8](repeating: 0, count: Int(paddedByteCount(count)) - count)
  }
}
