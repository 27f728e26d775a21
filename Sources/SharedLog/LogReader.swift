import AppGroup
import Platform

/// Reads the log of a group: the lines of all its processes, those that are dead among them, merged
/// by time.
///
/// Whatever lies in the log's directories, reading ends with lines or an error. One thread at a
/// time uses a reader.
public final class LogReader {
  private let group: AppGroup
  private let directories: LogDirectories
  private var watch: ChangeWatch?
  private var runs: [LogDirectories.Key: RunReader] = [:]
  /// Runs of which all was read and nothing can come.
  private var finished: Set<LogDirectories.Key> = []
  /// When the first run of each run of the machine began, by the wall clock.
  private var bootBegan: [[UInt8]: UInt64] = [:]
  private var heads = MergeHeap()
  private let budget = RunReader.Budget()

  /// - Parameter isFollowing: whether ``wait(stop:until:)`` will be called.
  public init(_ group: AppGroup, isFollowing: Bool = false) throws(LogError) {
    self.group = group
    directories = try opened(in: group) { () throws(SystemError) in try LogDirectories(group) }
    // Before the first look, so that nothing comes in between.
    watch = isFollowing ? try makeWatch() : nil
    try look()
  }

  /// The next entry of those there are; nil if there is none, until ``wait(stop:until:)``.
  public func next() throws(LogError) -> LogEntry? {
    do throws(SystemError) {
      while let run = heads.first?.run {
        // None if what was read ahead was given back, and has gone meanwhile.
        let entry = try run.next(in: directories)
        if entry != nil { run.drop() }
        try push(run, replacingFirst: true)
        if let entry { return entry }
      }
      return nil
    } catch {
      throw .system(error)
    }
  }

  /// Waits until there may be more, and looks.
  /// - Returns: false if the deadline passed, or `stop` was raised.
  public func wait(stop: StopSignal, until deadline: Deadline = .never) throws(LogError) -> Bool {
    if watch == nil { watch = try makeWatch() }
    guard let watch else { return false }
    let isAny = try attempt { () throws(SystemError) in
      try watch.wait(stop: stop, until: deadline)
    }
    if isAny { try look() }
    return isAny
  }

  /// Removes the files of runs that have ended and were read to their end: others keep theirs. Each
  /// user removes their own; the group's owner, everybody's.
  /// - Returns: how many files were removed.
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
    try attempt { () throws(SystemError) in
      try ChangeWatch(
        [directories.files.path, directories.segments.path],
        [.appearance, .removal, .writing, .closing])
    }
  }

  /// Looks which runs there are, and what is new in each.
  private func look() throws(LogError) {
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

  /// Puts a run where its next entry belongs.
  /// - Returns: false if it has none.
  @discardableResult
  private func push(_ run: RunReader, replacingFirst: Bool) throws(SystemError) -> Bool {
    let entry: LogEntry?
    do throws(SystemError) {
      entry = try run.next(in: directories)
    } catch {
      if replacingFirst { heads.removeFirst() }
      throw error
    }
    guard let entry else {
      if replacingFirst { heads.removeFirst() }
      return false
    }
    let time: UInt64
    switch entry {
    case .line(let record): time = record.monotonicNs
    // With the line behind it, or with the last one.
    case .missing: time = replacingFirst ? heads.first?.monotonicNs ?? 0 : 0
    }
    let head = MergeHeap.Head(
      bootNs: bootBegan[run.boot] ?? 0, monotonicNs: time, name: run.run.name, run: run)
    if replacingFirst { heads.replaceFirst(with: head) } else { heads.insert(head) }
    if budget.isSpent { run.forget() }
    return true
  }
}
