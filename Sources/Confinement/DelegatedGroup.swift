import Platform

/// Finds where a process may create control groups of version 2, by the rules of the kernel and of
/// systemd: in a delegated unit (`Delegate=`), or at the visible root, as in a container. All
/// others belong to systemd: a role in a group beside its host's unit would survive the unit's
/// stop.
enum DelegatedGroup {
  private static let root = "/sys/fs/cgroup"

  /// The parent directory for the groups of a process that is in this group.
  static func parentPath(for name: Substring) -> String? {
    // The parent, if the unit's processes were moved into a group below it.
    [parent(of: name), name].first(where: isDelegated).map { root + $0 }
  }

  private static func isDelegated(_ name: Substring) -> Bool {
    if name.isEmpty || kernelMark("user.delegate", of: root + name) == "1" { return true }
    // A user's own systemd cannot mark delegated groups, but the user does not own the slices.
    return currentUserID() != 0 && !name.hasSuffix(".slice")
      && (try? Directory(path: root + name).status().ownerID) == currentUserID()
  }

  static func parent(of name: Substring) -> Substring {
    name.lastIndex(of: "/").map { name[..<$0] } ?? ""
  }

  /// Enables memory accounting for the groups in a directory. Such a group can have no processes of
  /// its own, so those in it, this process among them, move into a group below it.
  static func countMemory(in path: String) throws(SystemError) {
    let controllers = path + "/cgroup.subtree_control"
    if kernelText(controllers).split(whereSeparator: \.isWhitespace).contains("memory") { return }
    do throws(SystemError) {
      return try writeKernelText("+memory", controllers)
    } catch {
      guard error.isBusy else { throw error }
    }
    let lower = "\(path)/framebus-\(currentProcessID())-host"
    try makeControlGroup(lower)
    moveProcesses(from: path, to: lower)
    do throws(SystemError) {
      try writeKernelText("+memory", controllers)
    } catch {
      moveProcesses(from: lower, to: path)
      removeControlGroup(lower)
      throw error
    }
  }

  /// Moves all processes, repeatedly, because further ones may start meanwhile.
  private static func moveProcesses(from group: String, to other: String) {
    for _ in 1...8 {
      let processes = kernelText(group + "/cgroup.procs").split(separator: "\n")
      if processes.isEmpty { return }
      for process in processes { try? writeKernelText(String(process), other + "/cgroup.procs") }
    }
  }
}
