import Platform

/// The directory for one user's volatile data. The first process after a reboot chooses it and
/// records it as a link beside the durable data, one link for each machine that shares the home
/// directory. Other processes follow the link while its target exists.
///
/// `/run/user/UID` does not exist for cron and disappears with the last session, but later
/// processes must still find the earlier ones. An environment variable could not ensure that.
///
/// After a cleanup of /tmp, any user can create an entry at the link's target. A target that is
/// not this user's own directory counts as missing.
struct UserRunLocation {
  private let uid = currentUserID()
  private var trusted: Set<UInt32> { [0, uid] }
  private let linkName = ".run-" + machineName()

  /// The directory for the volatile data of the groups in `state`.
  func find(for state: borrowing Directory) throws(GroupError) -> Directory {
    if let directory = fromHost() { return directory }
    if let directory = try followed(in: state) { return directory }
    // A separate lock, because creating a group calls this with the location's lock held.
    let lock = try lockState(state, ".run-lock", ownerID: uid)
    defer { lock.isHeldUntilHere() }
    // Another process may have chosen while this one waited.
    if let directory = try followed(in: state) { return directory }
    let directory = try makeDirectory()
    try attempt("cannot record the run directory") { () throws(SystemError) in
      let temporary = temporaryName(prefix: ".new-run-")
      try state.makeLink(temporary, to: directory.path)
      do throws(SystemError) {
        try state.rename(temporary, to: linkName, replacing: true)
      } catch {
        try? state.removeFile(temporary)
        throw error
      }
    }
    return directory
  }

  /// The directory that a confined process's host names: this process cannot read the machine's
  /// name, by which the link is found.
  private func fromHost() -> Directory? {
    guard environmentValue(GroupVariables.confined) != nil,
      let path = environmentValue(GroupVariables.run)
    else { return nil }
    return try? own(path)
  }

  /// - Returns: nil if the link or its target is missing or does not belong to this user.
  /// - Throws: unrelated errors, such as too many open files, and an error if the user's own
  ///   directory is writable by others, who may have created entries there.
  private func followed(in state: borrowing Directory) throws(GroupError) -> Directory? {
    do {
      return try own(state.path(of: linkName))
    } catch {
      if error.isMisplaced { return nil }
      throw GroupError(error)
    }
  }

  private func own(
    _ path: String, makingMode: UInt32? = nil
  ) throws(PathError) -> Directory? {
    let directory = try Directory.openTrusted(
      path: path, trusting: trusted, makingMode: makingMode)
    do throws(SystemError) {
      if try directory.status().ownerID != uid { return nil }
    } catch {
      throw .system(error)
    }
    return directory
  }

  private func makeDirectory() throws(GroupError) -> Directory {
    if uid == 0 {
      let parent = try? Directory.openTrusted(
        path: Location.systemRunPath, trusting: trusted, makingMode: 0o755)
      if let path = parent?.path(of: "root"), let made = try? own(path, makingMode: 0o700) {
        return made
      }
    } else if let session = try? own("/run/user/\(uid)"),
      let status = try? session.status(), status.mode & 0o077 == 0,
      let made = try? own(session.path(of: "framebus"), makingMode: 0o700)
    {
      return made
    }
    return try makeUnderRandomName()
  }

  /// Creates a directory with a random name that no other user can have taken. Other processes
  /// find it by the link.
  private func makeUnderRandomName() throws(GroupError) -> Directory {
    // Opened by the same checked path that other processes follow.
    let parent = try openTrusted("/tmp", trusted)
    return try attempt("cannot create a run directory") { () throws(SystemError) in
      while true {
        let name = "framebus-\(uid)-" + String(UInt32.random(in: 0...(.max)), radix: 36)
        do throws(SystemError) {
          return try parent.makeDirectory(name, mode: 0o700)
        } catch {
          if !error.isExisting { throw error }
        }
      }
    }
  }
}

extension PathError {
  /// Whether the path is missing or is not this user's directory.
  fileprivate var isMisplaced: Bool {
    switch self {
    case .system(let error): error.isMissing || error.isNoDirectory || error.isAccessRefusal
    case .foreignOwner, .foreignLink, .notDirectory, .tooManyLinks: true
    case .writableByOthers: false
    }
  }
}
