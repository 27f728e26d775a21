import AppGroup
import Platform
import Synchronization

/// Saves a segment's lines to files, on its own thread, which lives as long as the run.
///
/// The thread sleeps until the first line after a pause rings it. Then it polls every 2 ms, so that
/// one system call saves many lines and appending makes none.
final class Saver: Sendable {
  let segment: Segment
  private let options: LogOptions
  private let logsPath: String
  private let segmentsPath: String
  private let progress = PrivateFutexWord()
  private let waiters = Atomic<Int>(0)
  /// Position up to which lines survive a power cut; position up to which a caller waits for that.
  private let durable = Atomic<UInt64>(0)
  private let wanted = Atomic<UInt64>(0)
  private let isEnding = Atomic<Bool>(false)
  private let isOver = Atomic<Bool>(false)
  private let failure = Mutex<SystemError?>(nil)

  private static let interval = Duration.milliseconds(2)
  /// Polls without a line before the thread sleeps.
  private static let idlePolls = 4
  private static let retryInterval = Duration.milliseconds(100)

  init(_ segment: Segment, _ options: LogOptions, _ group: AppGroup) throws(SystemError) {
    self.segment = segment
    self.options = options
    logsPath = group.logsPath
    segmentsPath = group.logSegmentsPath
    try startThread(named: "log") { [self] in run() }
  }

  // MARK: Called by any thread

  /// Waits until all lines appended before the call survive a power cut.
  func flush(until deadline: Deadline) throws(LogError) {
    let end = segment.end
    wanted.max(end, ordering: .acquiringAndReleasing)
    segment.ringAnyway()
    let isDone = wait(until: deadline) { durable.load(ordering: .acquiring) >= end }
    if !isDone { throw .notSaved(failure.withLock { $0 }) }
  }

  /// Calls `append` each time room is made, until it returns true or the deadline passes.
  func waitForRoom(until deadline: Deadline, _ append: () -> Bool) -> Bool {
    segment.ringAnyway()
    return wait(until: deadline, append)
  }

  /// Saves all lines and ends the thread. Lines that cannot be saved stay in the segment, for this
  /// user's next run to save.
  func end() {
    isEnding.store(true, ordering: .releasing)
    segment.ringAnyway()
  }

  func waitForEnd(until deadline: Deadline) throws(LogError) {
    let isDone = wait(until: deadline) { isOver.load(ordering: .acquiring) }
    if let error = failure.withLock({ $0 }) { throw .notSaved(error) }
    if !isDone { throw .notSaved(nil) }
  }

  private func wait(until deadline: Deadline, _ isDone: () -> Bool) -> Bool {
    waiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
    defer { waiters.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
    while true {
      let seen = progress.load()
      if isDone() { return true }
      if deadline.isPast { return false }
      // SAFETY: watches only a word of this object.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (first: progress, expecting: seen), until: deadline)
    }
  }

  private func reportProgress() {
    progress.increment()
    if waiters.load(ordering: .sequentiallyConsistent) > 0 { progress.wakeAll() }
  }

  // MARK: On the saving thread

  private func run() {
    let writer = BatchWriter()
    // In a sandbox it is always unavailable.
    if options.minimumLevel <= .debug, let refusal = writer.ringRefusal {
      note(.debug, "io_uring is unavailable (\(refusal.reason)): plain writes save this log")
    }
    var files: LogFiles?
    var idlePolls = 0
    while true {
      let seen = segment.bell.load()
      let mustEnd = isEnding.load(ordering: .acquiring)
      noteDropped()
      do throws(SystemError) {
        let hasSaved = try save(&files, writer)
        idlePolls = hasSaved ? 0 : idlePolls + 1
        failure.withLock { $0 = nil }
        if mustEnd, !hasSaved { break }
        if mustEnd { continue }
      } catch {
        failure.withLock { $0 = error }
        reportProgress()
        files = nil
        if mustEnd { return finish() }
        sleep(seen, until: .after(Self.retryInterval))
        continue
      }
      let isIdle = idlePolls >= Self.idlePolls
      segment.setAttention(isIdle ? .asleep : .dozing)
      // Checked again, because a thread that appended earlier may not have seen the new state.
      if isIdle, segment.batch(limit: 1) != nil || segment.skipLostRecords() { continue }
      sleep(seen, until: isIdle ? .never : .after(Self.interval))
    }
    if segment.savedEnd == segment.end { removeSegment() }
    finish()
  }

  private func sleep(_ seen: UInt32, until deadline: Deadline) {
    // SAFETY: watches only a word of the segment, which this object keeps alive.
    unsafe sleepOnFutexes(
      shared: nil, expecting: 0, privates: (first: segment.bell, expecting: seen), until: deadline)
    segment.setAttention(.awake)
  }

  /// Saves the lines that are ready.
  /// - Returns: false if there were none.
  private func save(_ files: inout LogFiles?, _ writer: BatchWriter) throws(SystemError) -> Bool {
    if files == nil {
      files = try LogFiles(segment.name, segment.header, options, logsPath: logsPath)
    }
    var isAny = false
    while let batch = segment.batch(limit: files?.room ?? 0) {
      let end = batch.position + UInt64(batch.byteCount)
      let isDurable =
        batch.hasError || options.durability == .everything
        || wanted.load(ordering: .acquiring) > batch.position
      try files?.save(batch, of: segment, with: writer, isDurable: isDurable)
      segment.release(batch)
      if isDurable { durable.store(end, ordering: .releasing) }
      isAny = true
      reportProgress()
      if wanted.load(ordering: .acquiring) < end { break }
    }
    let saved = segment.savedEnd
    if wanted.load(ordering: .acquiring) > durable.load(ordering: .acquiring),
      saved > durable.load(ordering: .acquiring)
    {
      try files?.sync()
      durable.store(saved, ordering: .releasing)
      reportProgress()
    }
    return isAny
  }

  private func noteDropped() {
    let count = segment.takeDropped()
    if count == 0 { return }
    let what = count == 1 ? "1 line was" : "\(count) lines were"
    if !note(.warning, "\(what) dropped: the segment was full (see segmentBytes)") {
      segment.addDropped(count)
    }
  }

  @discardableResult
  private func note(_ level: LogLevel, _ message: String) -> Bool {
    segment.append(level, message, label: "framebus.log", [], #fileID, #line)
  }

  private func removeSegment() {
    try? Directory(path: segmentsPath).removeFile(segment.name.segmentName)
  }

  private func finish() {
    isOver.store(true, ordering: .releasing)
    reportProgress()
  }
}
