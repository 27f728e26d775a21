import Foundation
import Platform

/// A control group of the kernel's that limits the memory of the processes in it, of either version
/// (cgroups(7)); whoever is over the limit is killed. Removed with this object, when it is empty.
package final class MemoryGroup: Sendable {
  private static let versions = [
    (root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", events: "memory.oom_control"),
    (root: "/sys/fs/cgroup", limit: "memory.max", events: "memory.events"),
  ]

  /// Whether this machine has them and this user may make one.
  package static var canBeMade: Bool { (try? MemoryGroup(limitBytes: 1 << 30)) != nil }

  private let path: String
  private let eventsPath: String

  package init(limitBytes: Int) throws {
    for version in Self.versions {
      let path = "\(version.root)/framebus-test-\(UInt64.random(in: 0...UInt64.max))"
      guard
        (try? FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: false)) != nil
      else { continue }
      do {
        let limit = try FileHandle(
          forWritingTo: URL(fileURLWithPath: "\(path)/\(version.limit)"))
        try limit.write(contentsOf: Data("\(limitBytes)".utf8))
      } catch {
        Self.remove(path)
        continue
      }
      self.path = path
      eventsPath = "\(path)/\(version.events)"
      return
    }
    throw HarnessError("no memory cgroup can be made")
  }

  deinit { Self.remove(path) }

  // SAFETY: the kernel reads the path during the call only.
  private static func remove(_ path: String) { _ = unsafe rmdir(path) }

  /// Where a process writes its id to be in the group from then on.
  package var processesPath: String { path + "/cgroup.procs" }

  /// How many of its processes the kernel has killed for their memory.
  package func killCount() throws -> Int {
    let lines = try String(contentsOfFile: eventsPath, encoding: .utf8).split(separator: "\n")
    return lines.first { $0.hasPrefix("oom_kill ") }.flatMap { Int($0.dropFirst(9)) } ?? 0
  }
}
