import AppGroup
import Platform

/// The two directories that hold a group's logs, and the runs that have files in them.
struct LogDirectories: ~Copyable {
  let files: Directory
  let segments: Directory

  init(_ group: AppGroup) throws(SystemError) {
    let files = try Directory(path: group.logsPath)
    segments = try Directory(path: group.logSegmentsPath)
    self.files = files
  }

  /// Identifies a run by its files' name and owner, so that nobody can add files to another's run.
  struct Key: Hashable {
    let run: RunName
    let uid: UInt32
  }

  struct Content {
    /// The indices of files, ascending.
    var files: [Int] = []
    var hasSegment = false
  }

  /// The files and the segment of each run.
  borrowing func runs() throws(SystemError) -> [Key: Content] {
    var runs: [Key: Content] = [:]
    // Segments first: a line that has left its segment by then is in a file.
    for name in try segments.names() {
      guard let run = RunName(segment: name), let owner = Self.owner(of: name, in: segments)
      else { continue }
      runs[Key(run: run, uid: owner), default: Content()].hasSegment = true
    }
    for name in try files.names() {
      guard let file = RunName.file(name), let owner = Self.owner(of: name, in: files)
      else { continue }
      runs[Key(run: file.run, uid: owner), default: Content()].files.append(file.index)
    }
    for key in runs.keys { runs[key]?.files.sort() }
    return runs
  }

  /// Nil unless the entry is a regular file with one name: a second link would be a second run.
  private static func owner(of name: String, in directory: borrowing Directory) -> UInt32? {
    let status = (try? directory.status(of: name)) ?? nil
    guard let status, status.kind == .file, status.linkCount == 1 else { return nil }
    return status.ownerID
  }
}
