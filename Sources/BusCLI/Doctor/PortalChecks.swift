import Platform
import ScreenCast

/// What `framebus capture portal` needs of a desktop, or of a session without one.
enum PortalChecks {
  /// Slower answers are those of a portal that starts.
  private static let answerLimit = Duration.seconds(5)

  static func all() -> [DoctorCheck] {
    [portal(), swaysUser(), swaysBackend(), pipeWire(), manager(), element()]
  }

  private static func portal() -> DoctorCheck {
    let name = "desktop portal"
    do {
      let session = try ScreenCastSession(stop: try StopSignal(), answerLimit: answerLimit)
      let types = [(UInt32(1), "monitor"), (2, "window"), (4, "virtual")]
        .filter { session.offer.sourceTypes & $0.0 != 0 }.map(\.1)
      guard !types.isEmpty else {
        return DoctorCheck(
          name, .limited, "it offers no pictures of this desktop",
          fix: "set XDG_CURRENT_DESKTOP and install the backend of that desktop")
      }
      let shown = "version \(session.offer.version): \(types.joined(separator: ", "))"
      return DoctorCheck(name, .ok, shown)
    } catch let error as ScreenCastError {
      return DoctorCheck(name, .limited, "no `capture portal`: \(error.cause)", fix: fix(of: error))
    } catch {
      return DoctorCheck(name, .limited, "unknown: \(error)")
    }
  }

  private static func fix(of error: ScreenCastError) -> String {
    switch error {
    case .noBus: "run in the desktop's session, or start a bus with `dbus-run-session`"
    case .noPortal: "`apt-get install xdg-desktop-portal-gnome`, or -kde, or -wlr"
    default: "`systemctl --user restart xdg-desktop-portal`"
    }
  }

  /// sway, and most compositors like it, end when root starts them.
  private static func swaysUser() -> DoctorCheck {
    let name = "sway's user"
    guard programInPath(named: "sway") != nil else {
      return DoctorCheck(name, .ok, "sway is not installed")
    }
    guard currentUserID() == 0 else { return DoctorCheck(name, .ok, "not root") }
    return DoctorCheck(
      name, .limited, "sway refuses to run as root",
      fix: "start it as an ordinary user: `setpriv --reuid=USER --regid=GROUP --init-groups sway`")
  }

  /// Version 0.7 starts no screen cast without DMA-BUF, which only a graphics card's renderer has.
  private static func swaysBackend() -> DoctorCheck {
    let name = "sway's portal backend"
    let folders = ["/usr/libexec", "/usr/lib", "/usr/local/libexec", "/usr/local/lib"]
    let isInstalled = folders.contains {
      (try? Directory(path: $0).status(of: "xdg-desktop-portal-wlr")) != nil
    }
    guard isInstalled else {
      return DoctorCheck(name, .ok, "not installed; only `portal` needs it")
    }
    let cards = (try? Directory(path: "/dev/dri").names()) ?? []
    if let card = cards.first(where: { $0.hasPrefix("renderD") }) {
      return DoctorCheck(name, .ok, "xdg-desktop-portal-wlr, with /dev/dri/\(card)")
    }
    return DoctorCheck(
      name, .limited,
      "xdg-desktop-portal-wlr 0.7 gives no pictures without a graphics card (DMA-BUF)",
      fix: "`framebus capture wayland`, which needs no portal, or a newer xdg-desktop-portal-wlr")
  }

  /// An element that accepts any format is not linked with a node (PipeWire 0.3.65).
  private static func element() -> DoctorCheck {
    let name = "gst:pipewiresrc"
    guard DoctorChecks.hasPlugin("pipewire") else {
      return DoctorCheck(name, .ok, "not installed; `portal` does not use it")
    }
    return DoctorCheck(
      name, .limited, "it waits for ever if the next element accepts any format",
      fix: "write `gst:pipewiresrc path=NODE ! video/x-raw`; `portal` does not use it")
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
          fix: "start `pipewire`, or set XDG_RUNTIME_DIR to where it runs")
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
