import AppGroup
import Platform

/// Reads the log of a group: the lines of all its processes, dead ones included, merged by time.
///
/// Hostile files cannot break it: reading ends with lines or an error, whatever the log's
/// directories contain. Only one thread at a time may use a reader.
public final class LogReader {
  private let group: AppGroup
  private let directories: LogDirectories
  private var watch: ChangeWatch?
  private var runs: [LogDirectories.Key: RunReader] = [:]
  /// Dead runs that were read to their end.
  private var finished: Set<LogDirectories.Key> = []
  /// Wall-clock start of the first run in each boot of the machine.
  private var bootBegan: [[UInt8]: UInt64] = [:]
  private var heads = MergeHeap()
  private let budget = RunReader.Budget()

  /// - Parameter isFollowing: whether ``wait(stop:until:)`` will be called.
  public init(_ group: AppGroup, isFollowing: Bool = false) throws(LogError) {
    self.group = group
    directories = try opened(in: group) { () throws(SystemError) in try LogDirectories(group) }
    // Before the first poll, so that no change is missed in between.
    watch = isFollowing ? try makeWatch() : nil
    try poll()
  }

  /// The next entry; nil when all present entries were read, until ``wait(stop:until:)``.
  public func next() throws(LogError) -> LogEntry? {
    do throws(SystemError) {
      while let run = heads.first?.run {
        // Nil if lines read ahead were given back and their files removed since.
        let entry = try run.next(in: directories) == nil ? nil : run.take()
        try push(run, replacingFirst: true)
        if let entry { return entry }
      }
      return nil
    } catch {
      throw .system(error)
    }
  }

  /// Waits until there may be more entries, and polls for them.
  /// - Returns: false if the deadline passed, or `stop` was raised.
  public func wait(stop: StopSignal, until deadline: Deadline = .never) throws(LogError) -> Bool {
    if watch == nil { watch = try makeWatch() }
    guard let watch else { return false }
    let isAny = try LogError.attempt(watch.wait(stop: stop, until: deadline))
    if isAny { try poll() }
    return isAny
  }

  /// Removes the files of runs that have ended and were read to their end. A user can remove their
  /// own; the group's owner can remove all.
  /// - Returns: the number of files removed.
  public func removeEndedRuns() throws(LogError) -> Int {
    do throws(SystemError) {
      var count = 0
      for (key, content) in try directories.runs() where !content.hasSegment {
        guard finished.contains(key) || runs[key]?.isOver(in: directories) == true else {
          continue
        }
        for index in content.files {
          try directories.files.removeFile(key.run.fileName(index))
          count += 1
        }
      }
      return count
    } catch {
      throw .system(error)
    }
  }

  private func makeWatch() throws(LogError) -> ChangeWatch {
    try LogError.attempt(
      ChangeWatch(
        [directories.files.path, directories.segments.path],
        [.appearance, .removal, .writing, .closing]))
  }

  /// Polls for new runs, and for new entries of each run.
  private func poll() throws(LogError) {
    do throws(SystemError) {
      let found = try directories.runs()
      for (key, content) in found where !finished.contains(key) {
        if let run = runs[key] {
          run.update(content)
        } else if let run = RunReader(key, content, in: directories, group, budget) {
          runs[key] = run
          let began = min(bootBegan[run.boot] ?? .max, run.startedAtNs)
          bootBegan[run.boot] = began
        }
      }
      for key in runs.keys where found[key] == nil { runs[key]?.update(.init()) }
      for run in runs.values { run.bootBeganNs = bootBegan[run.boot] ?? 0 }
      heads = MergeHeap()
      for (key, run) in runs {
        if try push(run, replacingFirst: false) { continue }
        if run.isOver(in: directories) {
          runs[key] = nil
          finished.insert(key)
        }
      }
      finished.formIntersection(found.keys)
    } catch {
      throw .system(error)
    }
  }

  /// Puts a run into the heap by the time of its next entry.
  /// - Returns: false if it has no entry.
  @discardableResult
  private func push(_ run: RunReader, replacingFirst: Bool) throws(SystemError) -> Bool {
    let item: RunReader.Item?
    do throws(SystemError) {
      item = try run.next(in: directories)
    } catch {
      if replacingFirst { heads.removeFirst() }
      throw error
    }
    guard let item else {
      if replacingFirst { heads.removeFirst() }
      return false
    }
    let time: UInt64
    switch item {
    case .line(let start): time = run.time(ofLineAt: start)
    // Sorted with the line that follows it, or at the end of the log with the previous one.
    case .missing: time = replacingFirst ? heads.first?.monotonicNs ?? 0 : 0
    }
    let head = MergeHeap.Head(
      monotonicNs: time, run: run)
    if replacingFirst { heads.replaceFirst(with: head) } else { heads.insert(head) }
    if budget.isSpent { run.forget() }
    return true
  }
}
