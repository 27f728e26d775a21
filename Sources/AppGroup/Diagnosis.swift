import Platform

/// The result of one check of `framebus group doctor`.
public struct Finding: Sendable {
  /// How a check ended.
  public enum State: String, Sendable {
    /// Nothing is wrong.
    case ok
    /// It works, but not as it should.
    case warning
    /// It does not work.
    case failed
  }
  /// What was checked.
  public let check: String
  /// The result.
  public let state: State
  /// The observed state.
  public let detail: String
  /// How to fix a problem; nil if the check succeeded.
  public let fix: String?
}

extension AppGroup {
  /// Checks everything that a group needs, from its location to its permissions. Changes nothing
  /// except what every `open` changes.
  public static func diagnose(_ id: GroupID, root: String? = nil) -> [Finding] {
    var diagnosis = Diagnosis(id: id, root: root)
    diagnosis.run()
    return diagnosis.findings
  }
}

private struct Diagnosis {
  let id: GroupID
  let root: String?
  var findings: [Finding] = []

  mutating func run() {
    do {
      let container = try AppGroup.find(id, root: root)
      note(
        "container", "\(container.directory.path), owned by \(userText(container.location.ownerID))"
      )
      examineLocation(container.location)
      let manifest = try container.read().manifest
      note("manifest", "version \(Manifest.version), \(manifest.roles.count) roles")
      examineMembers(manifest, container.location)
      let run = try RunDirectory.open(of: id, manifest, in: container.location)
      examineRun(run, container.location)
      try examinePermissions(manifest, container, run)
      try examineLeftovers(container.location)
    } catch {
      findings.append(
        Finding(
          check: error.check, state: .failed, detail: error.problem, fix: error.advice))
    }
  }

  private mutating func note(_ check: String, _ detail: String) {
    findings.append(Finding(check: check, state: .ok, detail: detail, fix: nil))
  }

  private mutating func warn(_ check: String, _ detail: String, fix: String) {
    findings.append(Finding(check: check, state: .warning, detail: detail, fix: fix))
  }

  private mutating func examineLocation(_ location: Location) {
    switch location.choice {
    case .user:
      guard let wanted = environmentValue("XDG_STATE_HOME") else { break }
      if location.statePath == wanted + "/framebus" { break }
      warn(
        "location",
        "XDG_STATE_HOME is \(printable(wanted)), but the groups are in \(location.statePath), where"
          + " every process of this user finds them",
        fix: "to move them, stop their processes, move the directory and link"
          + " ~/.local/state/framebus to it")
      return
    case .root(let path) where location.isPrivate(path):
      warn(
        "location", "\(path) is closed to other users, including members of the group",
        fix: "to share the group, run `chmod o+x \(path)`")
      return
    default: break
    }
    note("location", location.statePath)
  }

  private mutating func examineMembers(_ manifest: Manifest, _ location: Location) {
    let uid = currentUserID()
    let roles = manifest.roles(uid: uid, gids: currentGroupIDs())
    if roles.isEmpty {
      let error = GroupError.noMember(id, in: location)
      warn("membership", error.problem, fix: error.advice)
    } else {
      let names = roles.map(\.description).joined(separator: ", ")
      note("membership", "\(userText(uid)) holds \(names)")
    }
    let strangers = Set(manifest.roles.values.flatMap(\.uids)).filter {
      UserAccount.find($0) == nil
    }
    if strangers.isEmpty { return }
    warn(
      "members", "the manifest names users that do not exist: \(strangers.sorted())",
      fix: "remove them from the manifest")
  }

  private mutating func examineRun(_ run: borrowing Directory, _ location: Location) {
    let path = run.path
    let longest = RunDirectory.maximumNameBytes(
      streamsPath: run.path(of: GroupLayout.streams.name))
    let account = UserAccount.find(location.ownerID)?.name ?? "\(location.ownerID)"
    if path.hasPrefix("/run/user/"), !isLingering(account) {
      warn(
        "run directory", "\(path) is removed when the last session of \(account) ends",
        fix: "to keep streams after that, run `loginctl enable-linger \(account)`")
    } else {
      note("run directory", path)
    }
    if longest >= RunDirectory.longestName {
      note("socket paths", "stream names may have \(longest) bytes")
    } else {
      note(
        "socket paths",
        "stream names may have \(longest) bytes; a shorter path would allow more")
    }
  }

  private func isLingering(_ account: String) -> Bool {
    guard let directory = try? Directory(path: "/var/lib/systemd/linger") else { return false }
    return (try? directory.status(of: account)) != nil
  }

  private mutating func examinePermissions(
    _ manifest: Manifest, _ container: borrowing Container, _ run: borrowing Directory
  ) throws(GroupError) {
    let requested = Permissions(manifest, ownerID: container.location.ownerID)
    let layout = GroupLayout(manifest)
    let isRight = try attempt("cannot read permissions") { () throws(SystemError) in
      guard try layout.container.isSet(requested, on: container.directory) else { return false }
      return try layout.run.isSet(requested, on: run)
    }
    if isRight {
      return note("permissions", "the directories' access control lists match the manifest")
    }
    let holder = manifest.roles.lazy.compactMap { role, holders in
      holders.uids.first.map { "\(role) --uid \($0)" }
        ?? holders.gids.first.map { "\(role) --gid \($0)" }
    }.first
    findings.append(
      Finding(
        check: "permissions", state: .failed,
        detail: "the directories' access control lists differ from the manifest",
        fix: "repair them by granting any role again: `framebus group grant"
          + " \(holder ?? "ROLE --uid N") --group \(id)\(container.location.findingOption)`"))
  }

  private mutating func examineLeftovers(_ location: Location) throws(GroupError) {
    let state = try openTrusted(location.statePath, location.trusted)
    let names = (try? state.names().filter { $0.hasPrefix(temporaryPrefix) }) ?? []
    if names.isEmpty { return note("leftovers", "none") }
    warn(
      "leftovers",
      "\(names.count) partly created or partly removed groups in \(location.statePath)",
      fix: "creating or removing any group removes them; remove any that remain as root")
  }
}

extension Location {
  fileprivate func isPrivate(_ path: String) -> Bool {
    guard let status = try? Directory(path: path).status() else { return false }
    return status.mode & 0o001 == 0
  }
}

extension GroupError {
  fileprivate var check: String {
    switch kind {
    case .brokenManifest, .newerVersion: "manifest"
    case .notPermitted: "membership"
    case .unsafe: "safety"
    case .unknown, .exists, .busy, .system: "container"
    }
  }
}
