import Confinement
import Platform

/// Sandbox measures that work on this machine, found by confining a program that does nothing.
enum ConfinementChecks {
  static func all() -> [DoctorCheck] {
    do {
      return try measures().map(check)
    } catch {
      return [DoctorCheck("confinement", .missing, "\(error)", fix: "see the reason")]
    }
  }

  /// More than the idle program needs.
  private static let budgetBytes: UInt64 = 64 << 20

  /// Each measure once, over all kinds of roles. A role that lacks a measure decides its report.
  private static func measures() throws(LaunchError) -> [Measure] {
    var found: [Measure] = []
    let program = LaunchOptions(programInPath(named: "true") ?? "/bin/true")
    for sockets in [Confinement.Sockets.local, .internet] {
      var confinement = Confinement.systemAlone(sockets)
      confinement.memoryBytes = budgetBytes
      let role = try Launcher().start(program, confinement: confinement)
      for measure in role.measures {
        guard let index = found.firstIndex(where: { $0.name == measure.name }) else {
          found.append(measure)
          continue
        }
        if found[index].isOn { found[index] = measure }
      }
      _ = role.wait()
    }
    return found
  }

  private static func check(_ measure: Measure) -> DoctorCheck {
    DoctorCheck(
      "confined " + measure.name, measure.isOn ? .ok : .limited, measure.detail,
      fix: fix(of: measure.name))
  }

  private static func fix(of name: String) -> String {
    switch name {
    case "private-root", "private-network", "file-metadata", "inotify":
      "allow user namespaces: `sysctl user.max_user_namespaces=10000`, and in a container unshare"
        + " and mount"
    case "unix-sockets":
      "allow user namespaces as for private-root, and use Linux 6.12 or newer with Landlock"
    case "files": "boot a kernel with Landlock, `landlock` among the names in its parameter lsm="
    case "scope": "use Linux 6.12 or newer, with Landlock as for files"
    case "children-memory":
      "run as root, or in a systemd session, where the user may create control groups"
    case "system-calls", "internet": "use a kernel with seccomp filters"
    default: "see the reason"
    }
  }
}
