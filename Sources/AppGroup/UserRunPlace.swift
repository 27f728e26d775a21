import Platform

/// Where one user's volatile parts lie. The first process after a reboot chooses, and records
/// the choice as a link beside the durable parts, one for each machine that shares the home
/// directory; the others follow the link for as long as what it leads to exists.
///
/// `/run/user/UID` is not there for cron, and goes with the last session; whoever comes meanwhile
/// must meet whoever came before. An environment variable could not do that.
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
    let path = try makeDirectory()
    try attempt("cannot record the run directory") { () throws(SystemError) in
      let temporary = temporaryName(prefix: ".new-run-")
      try state.makeLink(temporary, to: path)
      try state.rename(temporary, to: linkName, replacing: true)
    }
    return try openTrusted(path, trusted)
  }

  private func followed(in state: borrowing Directory) throws(GroupError) -> Directory? {
    let path = state.path(of: linkName)
    guard let directory = try openTrustedIfThere(path, trusted) else { return nil }
    let status = try attempt("cannot look at \(path)") { () throws(SystemError) in
      try directory.status()
    }
    guard status.ownerID == uid else {
      throw GroupError(.foreignOwner(path: directory.path, ownerID: status.ownerID))
    }
    return directory
  }

  private func makeDirectory() throws(GroupError) -> String {
    if uid == 0 {
      let path = Place.systemRunPath
      let directory = try openTrusted(path, [0], makingMode: 0o755)
      return try openTrusted(directory.path(of: "root"), [0], makingMode: 0o700).path
    }
    if let session = try? Directory.openTrusted(path: "/run/user/\(uid)", trusting: trusted),
      let status = try? session.status(), status.ownerID == uid, status.mode & 0o077 == 0
    {
      return try openTrusted(session.path(of: "framebus"), trusted, makingMode: 0o700).path
    }
    return try makeUnderRandomName()
  }

  /// Named at random, so that nobody can have taken the name; the link tells the others.
  private func makeUnderRandomName() throws(GroupError) -> String {
    try attempt("cannot make a run directory") { () throws(SystemError) in
      let parent = try Directory(path: "/tmp")
      while true {
        let name = "framebus-\(uid)-" + String(UInt32.random(in: 0...(.max)), radix: 36)
        do throws(SystemError) {
          return try parent.makeDirectory(name, mode: 0o700).path
        } catch {
          if !error.isExisting { throw error }
        }
      }
    }
  }
}
