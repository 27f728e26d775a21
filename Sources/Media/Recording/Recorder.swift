import AppGroup
import FrameBus
import Platform

/// Writes a stream's frames to a file unchanged, each straight from its slot to the disk where
/// the kernel supports that, with several writes in flight.
///
/// It delays a publisher only under lossless delivery. Otherwise, while the disk is slow, frames
/// are dropped and counted. It runs on the thread that calls `run`.
public struct Recorder: ~Copyable {
  /// Writes in flight, and so frames held, at most.
  private static let depth = 16
  /// How much of the file is allocated at a time, in bytes.
  private static let reservedBytes: UInt64 = 64 << 20
  private static let reportIntervalNs: UInt64 = 1_000_000_000

  private let plan: RecordingPlan
  private let stop: StopSignal
  private let report: @Sendable (RecordingReport) -> Void
  private var source: WholeStream
  private var writer: BlockWriter
  private let head: FileHead

  /// The file offset of the next frame, and the end of the allocated part.
  private var position = UInt64(HeadBlock.blockBytes)
  private var reservedUpTo = UInt64(HeadBlock.blockBytes)
  /// Frames being written, by the token of their write. Each keeps its slot unchanged.
  private var underWay: [FrameUnderWay?]
  private var entries: [RecordingIndex.Entry] = []
  /// The end of the last frame of `entries`.
  private var endOfFrames = UInt64(HeadBlock.blockBytes)
  private var figures = RecordingFigures()
  private var firstFrameNs: UInt64?
  private var reportAtNs = monotonicNowNs() + Self.reportIntervalNs
  private var end: RecordingEnd?

  /// Creates the file and attaches to the stream, waiting for its publisher.
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
    // An existing file is replaced only when there is a stream to record, but an unwritable path
    // is reported before a long wait.
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
    var options = WholeStream.Options()
    options.policy = plan.policy
    options.holds = depth
    options.onEvent = { report(.event($0)) }
    do throws(SubscriberError) {
      do throws(SubscriberError) {
        return try WholeStream(
          plan.stream, in: group, options, waitingForPublisherUntil: nil, stop: stop)
      } catch {
        guard case .noSuchStream = error else { throw error }
        report(.waitingForStream(plan.stream))
        return try WholeStream(
          plan.stream, in: group, options, waitingForPublisherUntil: .never, stop: stop)
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
  /// - Throws: also when the disk is full; the frames written before are then complete.
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
      // Every frame that may be held is being written: one write has to end first.
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
      // SAFETY: `underWay` keeps the lease, and so the slot unchanged, until the write has ended.
      let token = try unsafe frame.lease.withUnsafeBytes { (body) throws(SystemError) in
        try unsafe writer.write(head: block, body: body, at: frame.frame.offset)
      }
      underWay[token] = frame
    } catch { throw .file(error) }
    figures.received += 1
    if let limit = plan.frameLimit, figures.received >= UInt64(limit) { end = .limitReached }
  }

  /// Records the writes that have completed, and waits for one if requested.
  private mutating func collect(isWaiting: Bool) throws(RecordingError) {
    var isWaiting = isWaiting
    do throws(SystemError) {
      while let completion = try writer.nextCompletion(isWaiting: isWaiting) {
        isWaiting = false
        guard let written = underWay[completion.token]?.frame else { continue }
        // Releases the slot.
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

  /// Waits for the writes in flight, then writes the index. Also tries to after a failure:
  /// without an index, a player searches the file for frames.
  /// - Returns: the first failure.
  private mutating func finish() -> RecordingError? {
    var failure: RecordingError?
    while writer.inFlight > 0 {
      let before = writer.inFlight
      do throws(RecordingError) { try collect(isWaiting: true) } catch {
        failure = failure ?? error
        // The io_uring no longer answers: the result of the writes in flight stays unknown.
        if writer.inFlight == before { break }
      }
    }
    figures.dropped = source.droppedCount
    entries.sort { $0.offset < $1.offset }
    do throws(SystemError) { try writeIndex() } catch { failure = failure ?? .file(error) }
    return failure
  }

  private mutating func writeIndex() throws(SystemError) {
    // Truncates after the last whole frame, which removes failed writes and the reserve.
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

  /// The next time at which there is work to do without a frame.
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

/// A frame being written: the contents of its head, and the lease that keeps its bytes unchanged.
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
  /// Padded with zeros to a whole number of blocks.
  fileprivate func padded() -> [UInt8] {
    self + [UInt8](repeating: 0, count: Int(paddedByteCount(count)) - count)
  }
}
