import Foundation
import Platform

/// A service of systemd's for one test, with a program in it (`systemd-run(1)`).
package final class SystemdUnit: Sendable {
  /// Only root can, where systemd runs the machine and counts memory by the second version of
  /// control groups.
  package static var canBeMade: Bool {
    geteuid() == 0 && FileManager.default.fileExists(atPath: "/run/systemd/system")
      && kernelText("/sys/fs/cgroup/cgroup.subtree_control").contains("memory")
  }

  private let name = "framebus-test-\(UInt64.random(in: 0...UInt64.max)).service"
  package let program: RunningProgram

  /// - Parameters:
  ///   - isDelegated: whether the program may make control groups.
  ///   - user: who it runs as; nil for root.
  package init(
    _ program: String, _ arguments: [String], isDelegated: Bool, as user: TestUser? = nil
  ) throws {
    let programs = try ReachablePrograms.shared.get()
    var options = ["--quiet", "--pipe", "--wait", "--collect", "--unit=\(name)"]
    if isDelegated { options.append("--property=Delegate=yes") }
    if let user { options.append("--uid=\(user.name)") }
    if let path = programs.libraryPath { options.append("--setenv=LD_LIBRARY_PATH=\(path)") }
    self.program = try RunningProgram(
      "systemd-run", options + ["--", programs.path(of: program)] + arguments)
  }

  /// The name of its control group.
  package var group: String { "/system.slice/\(name)" }

  /// Ends it, and every process that systemd finds in it.
  package func stop() throws { try output(of: "systemctl", ["stop", name]) }

  deinit { _ = try? run("systemctl", ["stop", name]) }
}
