import Platform

/// A control group of the kernel's for one role (`cgroups(7)`): it counts what the role's children
/// take too, and lets all together have no more. Of either version of the kernel's interface.
///
/// The budget is of memory of their own; as the kernel counts files that they read and write
/// besides, its limit is a quarter higher: what keeps the budget is whoever watches the group.
final class MemoryGroup: Sendable {
  /// Its directory.
  let path: String

  private static let prefix = "framebus-"

  /// Which version, and how it spells what is needed of it.
  private struct Version {
    /// Whether a line of /proc/self/cgroup, cut at its colons, is about it.
    let isNamed: @Sendable ([Substring]) -> Bool
    /// Where a group may be made by a process that is in the group of this name.
    let places: @Sendable (Substring) -> [String]
    /// Has the groups of such a place count memory.
    let prepare: @Sendable (String) throws(SystemError) -> Void
    let limit: String
    /// What else it is told, by file, where there is one: that memory may not go to the swap
    /// instead, and that all in the group end together.
    let others: @Sendable (UInt64) -> [String: UInt64]
  }

  private static let versions = [
    Version(
      isNamed: { $0[1].split(separator: ",").contains("memory") },
      // In its own, beside it or, in a container, at the top of what it sees. No service is stopped
      // by these groups: systemd has others to find processes by.
      places: { [$0, DelegatedGroup.parent(of: $0), ""].map { "/sys/fs/cgroup/memory" + $0 } },
      prepare: { _ in },
      limit: "memory.limit_in_bytes", others: { ["memory.memsw.limit_in_bytes": $0] }),
    Version(
      isNamed: { $0[0] == "0" && $0[1].isEmpty },
      places: { DelegatedGroup.place(for: $0).map { [$0] } ?? [] },
      prepare: DelegatedGroup.countMemory,
      limit: "memory.max", others: { _ in ["memory.swap.max": 0, "memory.oom.group": 1] }),
  ]

  /// - Returns: nil where this user may make none.
  init?(budgetBytes: UInt64) {
    let limitBytes = budgetBytes + budgetBytes / 4
    for version in Self.versions {
      for parent in Self.places(version) {
        Self.removeLeftovers(in: parent)
        let path = parent + "/" + temporaryName(prefix: "\(Self.prefix)\(currentProcessID())-")
        do throws(SystemError) {
          try version.prepare(parent)
          try makeControlGroup(path)
          try tellKernel("\(limitBytes)", path + "/" + version.limit)
        } catch {
          removeControlGroup(path)
          continue
        }
        for (file, value) in version.others(limitBytes) {
          try? tellKernel("\(value)", path + "/" + file)
        }
        self.path = path
        return
      }
    }
    return nil
  }

  deinit { removeControlGroup(path) }

  /// Whether the kernel has killed one of its processes for want of memory.
  var hasKilled: Bool {
    ["memory.events", "memory.oom_control"].contains {
      Self.figure("oom_kill", in: "\(path)/\($0)") ?? 0 > 0
    }
  }

  /// The memory that all processes of a group have of their own; nil if it cannot be read.
  static func ownBytes(in path: String) -> UInt64? {
    let file = path + "/memory.stat"
    // The first version's total_rss is what the second calls anon.
    return figure("total_rss", in: file) ?? figure("anon", in: file)
  }

  private static func figure(_ name: String, in path: String) -> UInt64? {
    let line = kernelText(path).split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line.flatMap { UInt64($0.dropFirst(name.utf8.count + 1)) }
  }

  /// Where a group may be made, each place once.
  private static func places(_ version: Version) -> [String] {
    let lines = kernelText("/proc/self/cgroup").split(separator: "\n")
    let own = lines.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
      .first { $0.count == 3 && version.isNamed($0) }
    guard let own = own?[2] else { return [] }
    var places: [String] = []
    for path in version.places(own == "/" ? "" : own) where !places.contains(path) {
      places.append(path)
    }
    return places
  }

  /// Removes the groups of hosts that were killed, wherever this process could have made them.
  static func removeLeftovers() {
    for version in versions {
      for parent in places(version) { removeLeftovers(in: parent) }
    }
  }

  /// Removes the groups of hosts that were killed, as far as nobody is in them any more.
  private static func removeLeftovers(in parent: String) {
    guard let names = try? Directory(path: parent).names() else { return }
    for name in names where name.hasPrefix(prefix) {
      let maker = name.dropFirst(prefix.utf8.count).prefix { $0.isNumber }
      if kernelText("/proc/\(maker)/stat").isEmpty { removeControlGroup(parent + "/" + name) }
    }
  }
}
