import Platform

/// Where one user's volatile parts lie. The first process after a reboot chooses, and records
/// the choice as a link beside the durable parts, one for each machine that shares the home
/// directory; the others follow the link for as long as what it leads to exists.
///
/// `/run/user/UID` is not there for cron, and goes with the last session; whoever comes meanwhile
/// must meet whoever came before. An environment variable could not do that.
///
/// Once /tmp was cleaned, any user can put anything where the link leads: what is not this user's
/// own directory is as if gone.
struct UserRunPlace {
  private let uid = currentUserID()
  private var trusted: Set<UInt32> { [0, uid] }
  private let linkName = ".run-" + machineName()

  /// The directory of volatile parts of the groups that lie in `state`.
  func find(for state: borrowing Directory) throws(GroupError) -> Directory {
    if let directory = try followed(in: state) { return directory }
    // A lock of its own: creating a group comes here while it holds the place's lock.
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

  /// - Returns: nil if the link, or what it leads to, is missing or not this user's own.
  /// - Throws: what says nothing about that, such as too many open files, and that the user's own
  ///   directory is open to others, who may have put anything there.
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
        path: Place.systemRunPath, trusting: trusted, makingMode: 0o755)
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

  /// Named at random, so that nobody can have taken the name; the link tells the others.
  private func makeUnderRandomName() throws(GroupError) -> Directory {
    // By the way that followers go, so that they trust what they find.
    let parent = try openTrusted("/tmp", trusted)
    return try attempt("cannot make a run directory") { () throws(SystemError) in
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
  /// Whether something else than this user's directory is there, or nothing is.
  fileprivate var isMisplaced: Bool {
    switch self {
    case .system(let error): error.isMissing || error.isNoDirectory || error.isAccessRefusal
    case .foreignOwner, .foreignLink, .notDirectory, .tooManyLinks: true
    case .writableByOthers: false
    }
  }
}
