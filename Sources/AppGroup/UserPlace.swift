import Platform

/// One user's own groups, found by uid and the user database, never by the environment, so that
/// cron, ssh and the desktop meet (docs/decisions/0010-user-places-by-uid.md).
///
/// The anchor is `HOME/.local/state/framebus`, HOME as the user database has it. Whoever makes it
/// may be told by `$XDG_STATE_HOME` to put it elsewhere: then the anchor is a link to there, and
/// from then on the link decides, for every process, whatever its environment.
struct UserPlace {
  private static let anchorName = "framebus"
  private let uid = currentUserID()
  private var trusted: Set<UInt32> { [0, uid] }

  func find(isMaking: Bool) throws(GroupError) -> Place? {
    let home = try home()
    let parentPath = home + "/.local/state"
    if let place = try opened(parentPath) { return place }
    if !isMaking { return nil }
    let parent = try openTrusted(parentPath, trusted, makingMode: 0o700)
    let lock = try lockState(parent, ".framebus.lock", ownerID: uid)
    defer { lock.isHeldUntilHere() }
    // Another process may have made it while this one waited.
    if let place = try opened(parentPath) { return place }
    try makeAnchor(in: parent)
    return try opened(parentPath)
  }

  /// The place behind the anchor; nil if there is none, or only a link to what is gone.
  private func opened(_ parentPath: String) throws(GroupError) -> Place? {
    let path = "\(parentPath)/\(Self.anchorName)"
    guard let state = try openTrustedIfThere(path, trusted) else { return nil }
    let status = try attempt("cannot look at \(path)") { () throws(SystemError) in
      try state.status()
    }
    guard status.ownerID == uid else {
      throw GroupError(.foreignOwner(path: state.path, ownerID: status.ownerID))
    }
    return Place(choice: .user, statePath: state.path, ownerID: uid, trusted: trusted)
  }

  private func makeAnchor(in parent: borrowing Directory) throws(GroupError) {
    let name = Self.anchorName
    let target = elsewhere(than: parent.path)
    try attempt("cannot make \(parent.path(of: name))") { () throws(SystemError) in
      // A link to what is gone, such as a removed directory, is replaced.
      try parent.removeFile(name)
      if let target {
        try parent.makeLink(name, to: target)
      } else {
        _ = try parent.makeDirectory(name, mode: 0o700)
      }
      try parent.sync()
    }
  }

  /// Where `$XDG_STATE_HOME` wants the anchor, if that is another place and the user's own: under
  /// sudo it may be somebody else's, and is passed over.
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
    let advice = "choose a place with --root DIR or $FRAMEBUS_HOME"
    guard let account = UserAccount.find(uid) else {
      throw GroupError(
        .system, "the user database has no uid \(uid), so it has no home directory", advice: advice)
    }
    guard let home = try openTrustedIfThere(account.home, trusted) else {
      throw GroupError(
        .system, "the home directory of \(userText(uid)), \(account.home), is missing",
        advice: advice)
    }
    return home.path
  }
}
