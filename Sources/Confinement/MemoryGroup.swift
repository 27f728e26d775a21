import Platform

/// A control group for one role (`cgroups(7)`, version 1 or 2). It counts the memory of the role
/// and its children, and limits their total.
///
/// The budget is for memory of their own, but the kernel also counts files that they read and
/// write. So its limit is a quarter higher, and a memory watch enforces the budget.
final class MemoryGroup: Sendable {
  /// The group's directory.
  let path: String

  private static let prefix = "framebus-"

  /// A version of the kernel's interface.
  private struct Version {
    /// Whether a line of /proc/self/cgroup, split at its colons, is about this version.
    let isNamed: @Sendable ([Substring]) -> Bool
    /// Directories where a process may create a group, given the name of its own group.
    let parents: @Sendable (Substring) -> [String]
    /// Enables memory accounting for groups in such a directory.
    let prepare: @Sendable (String) throws(SystemError) -> Void
    let limit: String
    /// Further files and their values, where they exist: no swap beyond the limit, and all
    /// processes of the group killed together.
    let others: @Sendable (UInt64) -> [String: UInt64]
  }

  private static let versions = [
    Version(
      isNamed: { $0[1].split(separator: ",").contains("memory") },
      // In its own group, beside it or, in a container, at the visible root. These groups do not
      // affect the stop of services: systemd finds processes by other groups.
      parents: { [$0, DelegatedGroup.parent(of: $0), ""].map { "/sys/fs/cgroup/memory" + $0 } },
      prepare: { _ in },
      limit: "memory.limit_in_bytes", others: { ["memory.memsw.limit_in_bytes": $0] }),
    Version(
      isNamed: { $0[0] == "0" && $0[1].isEmpty },
      parents: { DelegatedGroup.parentPath(for: $0).map { [$0] } ?? [] },
      prepare: DelegatedGroup.countMemory,
      limit: "memory.max", others: { _ in ["memory.swap.max": 0, "memory.oom.group": 1] }),
  ]

  /// - Returns: nil if this user may not create a group.
  init?(budgetBytes: UInt64) {
    let limitBytes = budgetBytes + budgetBytes / 4
    for version in Self.versions {
      for parent in Self.parents(version) {
        Self.removeLeftovers(in: parent)
        let path = parent + "/" + temporaryName(prefix: "\(Self.prefix)\(currentProcessID())-")
        do throws(SystemError) {
          try version.prepare(parent)
          try makeControlGroup(path)
          try writeKernelText("\(limitBytes)", path + "/" + version.limit)
        } catch {
          removeControlGroup(path)
          continue
        }
        for (file, value) in version.others(limitBytes) {
          try? writeKernelText("\(value)", path + "/" + file)
        }
        self.path = path
        return
      }
    }
    return nil
  }

  deinit { removeControlGroup(path) }

  /// Whether the kernel has killed one of its processes because of the limit.
  var hasKilled: Bool {
    ["memory.events", "memory.oom_control"].contains {
      Self.figure("oom_kill", in: "\(path)/\($0)") ?? 0 > 0
    }
  }

  /// The processes' own memory, of a whole group; nil if it cannot be read.
  static func ownBytes(in path: String) -> UInt64? {
    let file = path + "/memory.stat"
    // Version 1 has total_rss, version 2 anon.
    return figure("total_rss", in: file) ?? figure("anon", in: file)
  }

  private static func figure(_ name: String, in path: String) -> UInt64? {
    let line = kernelText(path).split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line.flatMap { UInt64($0.dropFirst(name.utf8.count + 1)) }
  }

  /// Directories where a group may be created, without repetitions.
  private static func parents(_ version: Version) -> [String] {
    let lines = kernelText("/proc/self/cgroup").split(separator: "\n")
    let own = lines.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
      .first { $0.count == 3 && version.isNamed($0) }
    guard let own = own?[2] else { return [] }
    var paths: [String] = []
    for path in version.parents(own == "/" ? "" : own) where !paths.contains(path) {
      paths.append(path)
    }
    return paths
  }

  /// Removes the groups of killed hosts, wherever this process could have created them.
  static func removeLeftovers() {
    for version in versions {
      for parent in parents(version) { removeLeftovers(in: parent) }
    }
  }

  /// Removes the groups of killed hosts, unless they still have processes.
  private static func removeLeftovers(in parent: String) {
    guard let names = try? Directory(path: parent).names() else { return }
    for name in names where name.hasPrefix(prefix) {
      let maker = name.dropFirst(prefix.utf8.count).prefix { $0.isNumber }
      if kernelText("/proc/\(maker)/stat").isEmpty { removeControlGroup(parent + "/" + name) }
    }
  }
}
