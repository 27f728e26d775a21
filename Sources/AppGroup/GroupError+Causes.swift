import Platform

extension GroupError {
  /// A path that cannot be trusted or reached.
  init(_ error: PathError) {
    if case .system(let cause) = error, cause.reasonKind != .notPermitted {
      self = .failed("cannot open a directory", cause)
    } else {
      self.init(error.isNotPermitted ? .notPermitted : .unsafe, error.problem, advice: error.advice)
    }
  }

  /// A failed system call.
  static func failed(_ what: String, _ error: SystemError) -> GroupError {
    let advice =
      switch error.reasonKind {
      case .noSpace: "free some space and try again"
      case .fileSizeLimit: "raise the limit on a file's size (`ulimit -f`)"
      case .readOnly: "choose another place with --root DIR"
      case .notPermitted: "run the command as the group's owner"
      case .other: "check the path"
      }
    let kind: Kind = error.reasonKind == .notPermitted ? .notPermitted : .system
    return GroupError(kind, "\(what): \(error)", advice: advice)
  }
}

/// Makes system calls for one purpose, which the error then names.
func attempt<Value: ~Copyable>(
  _ what: @autoclosure () -> String, _ calls: () throws(SystemError) -> Value
) throws(GroupError) -> Value {
  do { return try calls() } catch { throw .failed(what(), error) }
}

/// Opens a path that only trusted users may have decided.
func openTrusted(
  _ path: String, _ trusted: Set<UInt32>, makingMode: UInt32? = nil
) throws(GroupError) -> Directory {
  do {
    return try Directory.openTrusted(path: path, trusting: trusted, makingMode: makingMode)
  } catch {
    throw GroupError(error)
  }
}

/// As ``openTrusted(_:_:makingMode:)``; nil if there is nothing.
func openTrustedIfThere(
  _ path: String, _ trusted: Set<UInt32>
) throws(GroupError) -> Directory? {
  do {
    return try Directory.openTrusted(path: path, trusting: trusted)
  } catch {
    if error.isNotFound { return nil }
    throw GroupError(error)
  }
}

/// Takes the lock under which groups of one place are made, changed and removed.
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
