import Platform

/// The location of one user's groups. It is found by uid and the user database, never by the
/// environment, so that processes of cron, ssh and the desktop find the same groups
/// (docs/decisions/0010-user-places-by-uid.md).
///
/// The anchor is `HOME/.local/state/framebus`, with HOME from the user database. If
/// `$XDG_STATE_HOME` names another directory when the anchor is created, the anchor is a link to
/// that directory. From then on every process follows the link, whatever its environment.
struct UserLocation {
  private static let anchorName = "framebus"
  private let uid = currentUserID()
  private var trusted: Set<UInt32> { [0, uid] }

  func find(isMaking: Bool) throws(GroupError) -> Location? {
    let home = try home()
    let parentPath = home + "/.local/state"
    if let location = try opened(parentPath) { return location }
    if !isMaking { return nil }
    let parent = try openTrusted(parentPath, trusted, makingMode: 0o700)
    let lock = try lockState(parent, ".framebus.lock", ownerID: uid)
    defer { lock.isHeldUntilHere() }
    // Another process may have created it while this one waited.
    if let location = try opened(parentPath) { return location }
    try makeAnchor(in: parent)
    return try opened(parentPath)
  }

  /// The location that the anchor names; nil if it is missing or a dangling link.
  private func opened(_ parentPath: String) throws(GroupError) -> Location? {
    let path = "\(parentPath)/\(Self.anchorName)"
    guard let state = try openTrustedIfThere(path, trusted) else { return nil }
    let status = try attempt("cannot read the status of \(path)") { () throws(SystemError) in
      try state.status()
    }
    guard status.ownerID == uid else {
      throw GroupError(.foreignOwner(path: state.path, ownerID: status.ownerID))
    }
    return Location(choice: .user, statePath: state.path, ownerID: uid, trusted: trusted)
  }

  private func makeAnchor(in parent: borrowing Directory) throws(GroupError) {
    let name = Self.anchorName
    let target = elsewhere(than: parent.path)
    try attempt("cannot create \(parent.path(of: name))") { () throws(SystemError) in
      // A dangling link, such as to a removed directory, is replaced.
      try parent.removeFile(name)
      if let target {
        try parent.makeLink(name, to: target)
      } else {
        _ = try parent.makeDirectory(name, mode: 0o700)
      }
      try parent.sync()
    }
  }

  /// The directory in `$XDG_STATE_HOME`, if it is another directory and belongs to this user. Under
  /// sudo it may belong to another user, and is then ignored.
  private func elsewhere(than parentPath: String) -> String? {
    guard let text = environmentValue("XDG_STATE_HOME"), text.hasPrefix("/"),
      let base = try? Directory.openTrusted(path: text, trusting: trusted, makingMode: 0o700),
      base.path != parentPath, let status = try? base.status(), status.ownerID == uid,
      let state = try? Directory.openTrusted(
        path: base.path(of: Self.anchorName), trusting: trusted, makingMode: 0o700)
    else { return nil }
    return state.path
  }

  private func home() throws(GroupError) -> String {
    let advice = "choose a directory with --root DIR or $FRAMEBUS_HOME"
    guard let account = UserAccount.find(uid) else {
      throw GroupError(
        .system, "the user database has no uid \(uid), so it has no home directory", advice: advice)
    }
    // A confined role may search it, but not list it.
    guard let home = try openTrustedIfThere(account.home, trusted, isPassage: true) else {
      throw GroupError(
        .system, "the home directory of \(userText(uid)), \(account.home), is missing",
        advice: advice)
    }
    return home.path
  }
}
