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
    let root: String
    /// Whether a line of /proc/self/cgroup, cut at its colons, is about it.
    let isNamed: @Sendable ([Substring]) -> Bool
    let limit: String
    /// What would let memory go to the swap instead, and what keeps it from that.
    let swap: (file: String, value: @Sendable (UInt64) -> UInt64)
  }

  private static let versions = [
    Version(
      root: "/sys/fs/cgroup/memory", isNamed: { $0[1].split(separator: ",").contains("memory") },
      limit: "memory.limit_in_bytes", swap: ("memory.memsw.limit_in_bytes", { $0 })),
    Version(
      root: "/sys/fs/cgroup", isNamed: { $0[0] == "0" && $0[1].isEmpty }, limit: "memory.max",
      swap: ("memory.swap.max", { _ in 0 })),
  ]

  /// - Returns: nil where this user may make none.
  init?(budgetBytes: UInt64) {
    let limitBytes = budgetBytes + budgetBytes / 4
    for version in Self.versions {
      for parent in Self.places(version) {
        Self.removeLeftovers(in: parent)
        let path = parent + "/" + temporaryName(prefix: "\(Self.prefix)\(currentProcessID())-")
        do throws(SystemError) {
          try makeControlGroup(path)
          try tellKernel("\(limitBytes)", path + "/" + version.limit)
        } catch {
          removeControlGroup(path)
          continue
        }
        // Where there is no swap, or it is not counted, there is no such file.
        try? tellKernel("\(version.swap.value(limitBytes))", path + "/" + version.swap.file)
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

  /// Where a group may be made: in this process's own, or beside it, since the second version has
  /// no processes in a group that has groups; or, in a container, at the top of what it sees.
  private static func places(_ version: Version) -> [String] {
    let lines = kernelText("/proc/self/cgroup").split(separator: "\n")
    let own = lines.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
      .first { $0.count == 3 && version.isNamed($0) }
    guard let own = own?[2] else { return [] }
    let beside = own.lastIndex(of: "/").map { own[..<$0] } ?? ""
    var places: [String] = []
    for path in [own == "/" ? "" : own, beside, ""] where !places.contains(version.root + path) {
      places.append(version.root + path)
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
