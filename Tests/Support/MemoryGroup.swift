import Foundation
import Platform

/// A kernel control group, of either version, that limits the memory of its processes (cgroups(7));
/// the kernel kills a process when the limit is exceeded. Removed with this object, if it is empty.
package final class MemoryGroup: Sendable {
  private static let versions = [
    (root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", events: "memory.oom_control"),
    (root: "/sys/fs/cgroup", limit: "memory.max", events: "memory.events"),
  ]

  /// Whether this machine supports it and this user may create one.
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
    throw HarnessError("cannot create a memory cgroup")
  }

  deinit { Self.remove(path) }

  // SAFETY: the kernel reads the path during the call only.
  private static func remove(_ path: String) { _ = unsafe rmdir(path) }

  /// The file to which a process writes its ID to enter the group.
  package var processesPath: String { path + "/cgroup.procs" }

  /// The number of its processes that the kernel killed for lack of memory.
  package func killCount() throws -> Int {
    let lines = try String(contentsOfFile: eventsPath, encoding: .utf8).split(separator: "\n")
    return lines.first { $0.hasPrefix("oom_kill ") }.flatMap { Int($0.dropFirst(9)) } ?? 0
  }
}
