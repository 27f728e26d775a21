import Platform

extension GroupError {
  /// Converts the error of a path that cannot be trusted or reached.
  init(_ error: PathError) {
    if case .system(let cause) = error, cause.reasonKind != .notPermitted {
      self = .failed("cannot open a directory", cause)
    } else {
      self.init(error.isNotPermitted ? .notPermitted : .unsafe, error.problem, advice: error.advice)
    }
  }

  /// Converts the error of a system call that failed while doing `what`.
  static func failed(_ what: String, _ error: SystemError) -> GroupError {
    let advice =
      switch error.reasonKind {
      case .noSpace: "free some space and try again"
      case .fileSizeLimit: "raise the limit on a file's size (`ulimit -f`)"
      case .readOnly: "choose another directory with --root DIR"
      case .notPermitted: "run the command as the group's owner"
      case .other: "check the path"
      }
    let kind: Kind = error.reasonKind == .notPermitted ? .notPermitted : .system
    return GroupError(kind, "\(what): \(error)", advice: advice)
  }
}

/// Runs system calls. An error names their purpose, `what`.
func attempt<Value: ~Copyable>(
  _ what: @autoclosure () -> String, _ calls: () throws(SystemError) -> Value
) throws(GroupError) -> Value {
  do { return try calls() } catch { throw .failed(what(), error) }
}

/// Opens a directory whose path only trusted users could have changed.
func openTrusted(
  _ path: String, _ trusted: Set<UInt32>, makingMode: UInt32? = nil
) throws(GroupError) -> Directory {
  do {
    return try Directory.openTrusted(path: path, trusting: trusted, makingMode: makingMode)
  } catch {
    throw GroupError(error)
  }
}

/// As ``openTrusted(_:_:makingMode:)``, but returns nil if the path does not exist.
func openTrustedIfThere(
  _ path: String, _ trusted: Set<UInt32>, isPassage: Bool = false
) throws(GroupError) -> Directory? {
  do {
    return try Directory.openTrusted(path: path, trusting: trusted, isPassage: isPassage)
  } catch {
    if error.isNotFound { return nil }
    throw GroupError(error)
  }
}

/// Takes the lock for creating, changing and removing the groups of one location. Waits at most
/// 10 s.
func lockState(
  _ directory: borrowing Directory, _ name: String = ".lock", ownerID: UInt32
) throws(GroupError) -> FileLock {
  let lock: FileLock?
  do {
    lock = try FileLock.take(
      name, in: directory, ownerID: ownerID, until: .after(.seconds(10)))
  } catch {
    throw .failed("cannot lock the groups in \(directory.path)", error)
  }
  guard let lock else {
    throw GroupError(
      .busy, "another process has been changing the groups in \(directory.path) for 10 seconds",
      advice: "find it with `fuser \(directory.path(of: name))` and try again")
  }
  return lock
}
