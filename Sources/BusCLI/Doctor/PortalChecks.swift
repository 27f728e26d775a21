import Platform
import ScreenCast

/// What `framebus capture portal` needs of a desktop, or of a session without one.
enum PortalChecks {
  /// Slower answers are those of a portal that starts.
  private static let answerLimit = Duration.seconds(5)

  static func all() -> [DoctorCheck] { [portal(), pipeWire(), manager()] }

  private static func portal() -> DoctorCheck {
    let name = "desktop portal"
    do {
      let session = try ScreenCastSession(stop: try StopSignal(), answerLimit: answerLimit)
      let types = [(UInt32(1), "monitor"), (2, "window"), (4, "virtual")]
        .filter { session.offer.sourceTypes & $0.0 != 0 }.map(\.1)
      guard !types.isEmpty else {
        return DoctorCheck(
          name, .limited, "it offers no pictures of this desktop",
          fix: "set XDG_CURRENT_DESKTOP and install the backend; xdg-desktop-portal-wlr 0.7 needs"
            + " a graphics card for sway, which refuses to run as root")
      }
      let shown = "version \(session.offer.version): \(types.joined(separator: ", "))"
      return DoctorCheck(name, .ok, shown)
    } catch let error as ScreenCastError {
      return DoctorCheck(name, .limited, "no `capture portal`: \(error)", fix: fix(of: error))
    } catch {
      return DoctorCheck(name, .limited, "unknown: \(error)")
    }
  }

  private static func fix(of error: ScreenCastError) -> String {
    switch error {
    case .noBus: "`dbus-run-session` starts a session bus, also without a login session"
    case .noPortal: "`apt-get install xdg-desktop-portal-gnome`, or -kde, or -wlr"
    default: "`systemctl --user restart xdg-desktop-portal`"
    }
  }

  private static func pipeWire() -> DoctorCheck {
    let runtime = environmentValue("XDG_RUNTIME_DIR") ?? "/run/user/\(currentUserID())"
    let path = "\(runtime)/pipewire-0"
    do throws(SystemError) {
      _ = try MessageSocket.connect(to: path)
    } catch {
      if error.isAbsence || error.isAccessRefusal {
        return DoctorCheck(
          "PipeWire", .limited, "no `capture portal` and no `upload camera:`: \(error)",
          fix: "start `pipewire`; `gst:pipewiresrc` needs `! video/x-raw` after it")
      }
    }
    return DoctorCheck("PipeWire", .ok, path)
  }

  /// Without one, nobody links two nodes of PipeWire.
  private static func manager() -> DoctorCheck {
    let name = "PipeWire session manager"
    let managers = ["wireplumber", "pipewire-media-"]
    let processes = (try? Directory(path: "/proc").names()) ?? []
    let running = processes.lazy.filter { $0.allSatisfy(\.isNumber) }
      .map { kernelText("/proc/\($0)/comm").split(separator: "\n").first.map(String.init) ?? "" }
    if let found = running.first(where: { name in managers.contains { name.hasPrefix($0) } }) {
      return DoctorCheck(name, .ok, found)
    }
    return DoctorCheck(
      name, .limited, "nobody links pictures with their readers",
      fix: "start `wireplumber`; without a login session it ends unless"
        + " bluez_monitor.properties[\"with-logind\"] is false")
  }
}
