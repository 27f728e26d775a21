import Foundation
import Platform

/// A systemd service for one test, with one program (`systemd-run(1)`).
package final class SystemdUnit: Sendable {
  /// Needs root, systemd as the machine's init, and a memory controller in control groups of
  /// version 2.
  package static var canBeMade: Bool {
    geteuid() == 0 && FileManager.default.fileExists(atPath: "/run/systemd/system")
      && kernelText("/sys/fs/cgroup/cgroup.subtree_control").contains("memory")
  }

  private let name = "framebus-test-\(UInt64.random(in: 0...UInt64.max)).service"
  package let program: RunningProgram

  /// - Parameters:
  ///   - isDelegated: whether the program may create control groups.
  ///   - user: the user that runs it; nil for root.
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

  /// Ends the service with all its processes.
  package func stop() throws { try output(of: "systemctl", ["stop", name]) }

  deinit { _ = try? run("systemctl", ["stop", name]) }
}
