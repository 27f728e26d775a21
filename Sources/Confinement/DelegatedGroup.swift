import Platform

/// Where a process may make groups by the rules of the kernel's second version and of systemd: in
/// a unit that was given away (`Delegate=`), or at the top of all that can be seen, as in a
/// container. Elsewhere groups are systemd's own, and in one that stood beside a host's unit a role
/// would escape who stops that unit.
enum DelegatedGroup {
  private static let root = "/sys/fs/cgroup"

  /// The directory for the groups of a process that is in a group of this name.
  static func place(for name: Substring) -> String? {
    // Above, once the processes of the unit stepped down.
    [parent(of: name), name].first(where: isGiven).map { root + $0 }
  }

  private static func isGiven(_ name: Substring) -> Bool {
    if name.isEmpty || kernelMark("user.delegate", of: root + name) == "1" { return true }
    // A user's own systemd cannot mark what it gives away; what holds its units is not theirs.
    return currentUserID() != 0 && !name.hasSuffix(".slice")
      && (try? Directory(path: root + name).status().ownerID) == currentUserID()
  }

  static func parent(of name: Substring) -> Substring {
    name.lastIndex(of: "/").map { name[..<$0] } ?? ""
  }

  /// Has the groups in one count memory. One that does so has no processes of its own: those in it,
  /// which came with this one, step down into a group for them.
  static func countMemory(in path: String) throws(SystemError) {
    let controllers = path + "/cgroup.subtree_control"
    if kernelText(controllers).split(whereSeparator: \.isWhitespace).contains("memory") { return }
    do throws(SystemError) {
      return try tellKernel("+memory", controllers)
    } catch {
      guard error.isBusy else { throw error }
    }
    let lower = "\(path)/framebus-\(currentProcessID())-host"
    try makeControlGroup(lower)
    moveProcesses(from: path, to: lower)
    do throws(SystemError) {
      try tellKernel("+memory", controllers)
    } catch {
      moveProcesses(from: lower, to: path)
      removeControlGroup(lower)
      throw error
    }
  }

  /// Those that were started meanwhile are found at the next look.
  private static func moveProcesses(from group: String, to other: String) {
    for _ in 1...8 {
      let processes = kernelText(group + "/cgroup.procs").split(separator: "\n")
      if processes.isEmpty { return }
      for process in processes { try? tellKernel(String(process), other + "/cgroup.procs") }
    }
  }
}
