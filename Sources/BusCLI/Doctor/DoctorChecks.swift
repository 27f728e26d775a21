import Capture
import Platform
import Upload

/// Requirements of the bus, its role programs and the demo. Media libraries are searched for as
/// files, because the core does not load them.
enum DoctorChecks {
  static func all() -> [DoctorCheck] {
    kernel() + limits() + programs() + ConfinementChecks.all() + plugins()
      + [soundServer(), display(), cameras(), loopbackDevices(), cameraNodes()] + PortalChecks.all()
  }

  private static func kernel() -> [DoctorCheck] {
    func feature(
      _ name: String, _ has: Bool, since version: String, without: DoctorCheck.Status,
      _ loss: String
    ) -> DoctorCheck {
      has
        ? DoctorCheck(name, .ok, "available (Linux \(version))")
        : DoctorCheck(name, without, loss, fix: "use Linux \(version) or newer")
    }
    return [
      DoctorCheck("kernel", .ok, KernelFeatures.release),
      feature(
        "sealed memory", KernelFeatures.hasFutureWriteSeal, since: "5.1", without: .missing,
        "subscribers could write to frames"),
      feature(
        "futex_waitv", KernelFeatures.hasFutexWaitAny, since: "5.16", without: .missing,
        "subscribers cannot wait for frames"),
      feature(
        "pidfd", KernelFeatures.hasProcessDescriptors, since: "5.3", without: .missing,
        "children cannot be watched safely"),
      ring(),
      keyring(),
      feature(
        "SO_PEERPIDFD", KernelFeatures.hasPeerProcessDescriptor, since: "6.5", without: .limited,
        "a peer's exit is detected by its socket only"),
    ]
  }

  private static func ring() -> DoctorCheck {
    guard let refusal = KernelFeatures.ringRefusal else {
      return DoctorCheck("io_uring", .ok, "available")
    }
    return DoctorCheck(
      "io_uring", .limited,
      "unavailable (\(refusal.reason)): `framebus record` writes one frame at a time",
      fix:
        "`sysctl kernel.io_uring_disabled=0`, and in a container a seccomp profile that allows it")
  }

  private static func keyring() -> DoctorCheck {
    guard let refusal = UserKeyring.refusal else { return DoctorCheck("keyring", .ok, "available") }
    return DoctorCheck(
      "keyring", .limited,
      "unavailable (\(refusal.reason)): `framebus credential` asks for a passphrase each time",
      fix: "in a container, a seccomp profile that allows add_key and keyctl")
  }

  private static func limits() -> [DoctorCheck] {
    let limit = KernelFeatures.descriptorLimit
    let wanted = 512
    return [
      DoctorCheck(
        "open files", limit >= wanted ? .ok : .limited, "limit \(limit)",
        fix: "64 subscribers need \(wanted): `ulimit -n \(wanted)`")
    ]
  }

  private static func programs() -> [DoctorCheck] {
    let names = [
      "framebus-capture", "framebus-capture-gstreamer", "framebus-upload", "framebus-view",
      "framebus-confine",
    ]
    let roles = names.map { name in
      siblingProgram(named: name).map { DoctorCheck(name, .ok, $0) }
        ?? DoctorCheck(
          name, .missing, "not found beside framebus or in ../libexec/framebus",
          fix: "build it: `swift build --product \(name)`")
    }
    let demo = [("Xvfb", "xvfb"), ("ico", "x11-apps")].map { (name, package) in
      programInPath(named: name).map { DoctorCheck(name, .ok, $0) }
        ?? DoctorCheck(
          name, .limited, "the demo needs a real screen", fix: "apt-get install \(package)")
    }
    return roles + demo
  }

  /// GStreamer's plugins, found by their files, with the Debian package of each.
  private static func plugins() -> [DoctorCheck] {
    let base = "gstreamer1.0-plugins-base"
    let needed: [(use: String, plugins: [String: String])] =
      [
        ("pipelines", ["app": base, "coreelements": "libgstreamer1.0-0"]),
        ("Opus encoder", ["opus": base]),
        (
          "AAC encoder",
          ["libav": "gstreamer1.0-libav", "audioparsers": "gstreamer1.0-plugins-good"]
        ),
      ] + SourceKind.all.map { ("capture \($0.name)", $0.plugins) }
      + DestinationKind.all.map { ("upload \($0.scheme)", $0.plugins) }
    let encoders = VideoCodec.allCases.map { encoder($0, hasPlugin) }
    return encoders
      + needed.filter { !$0.plugins.isEmpty }.map { use, plugins in
        let missing = plugins.filter { name, _ in !hasPlugin(name) }
        guard !missing.isEmpty else {
          return DoctorCheck(use, .ok, plugins.keys.sorted().joined(separator: ", "))
        }
        return DoctorCheck(
          use, .missing, "no plugin \(missing.keys.sorted().joined(separator: ", "))",
          fix: "apt-get install \(Set(missing.values).sorted().joined(separator: " "))")
      }
  }

  /// The encoders of a codec in the order in which `--encoder auto` tries them, and why others are
  /// left out. Whether a device's driver encodes is known only once it is tried.
  private static func encoder(_ codec: VideoCodec, _ has: (String) -> Bool) -> DoctorCheck {
    let kinds = EncoderKind.all.filter { $0.codec == codec }
    let obstacles = kinds.map { $0.obstacle(hasPlugin: has($0.plugin)) }
    let used = zip(kinds, obstacles).filter { $1 == nil }.map(\.0.name)
    let others = zip(kinds, obstacles).compactMap { kind, obstacle in
      obstacle.map { "\(kind.name): \($0)" }
    }
    let shown = used.isEmpty ? "none" : used.joined(separator: ", then ")
    let packages = Set(kinds.filter { $0.device == nil }.map(\.package)).sorted()
    return DoctorCheck(
      "encoder \(codec.rawValue)",
      !used.isEmpty ? .ok : codec == .h264 ? .missing : .limited,
      shown + (others.isEmpty ? "" : "; not \(others.joined(separator: ", "))"),
      fix: "apt-get install \(packages[0])")
  }

  static func hasPlugin(_ plugin: String) -> Bool {
    pluginFolders()
      .contains { (try? Directory(path: $0).status(of: "libgst\(plugin).so")) != nil }
  }

  private static func pluginFolders() -> [String] {
    let own = ["GST_PLUGIN_PATH", "GST_PLUGIN_SYSTEM_PATH"].compactMap(environmentValue)
      .flatMap { $0.split(separator: ":").map(String.init) }
    let machines = ["x86_64-linux-gnu/", "aarch64-linux-gnu/", "arm-linux-gnueabihf/", ""]
    return own + machines.map { "/usr/lib/\($0)gstreamer-1.0" } + ["/usr/lib64/gstreamer-1.0"]
  }

  /// Whether a process has the socket of the sound server that `pulse:` captures from.
  private static func soundServer() -> DoctorCheck {
    let name = "sound server"
    let named = environmentValue("PULSE_SERVER") ?? ""
    let isLocal = named.isEmpty || named.hasPrefix("unix:") || named.hasPrefix("/")
    guard isLocal, !named.contains(" ") else {
      return DoctorCheck(name, .ok, "not checked: PULSE_SERVER is \(named)")
    }
    let runtime = environmentValue("XDG_RUNTIME_DIR") ?? "/run/user/\(currentUserID())"
    let paths =
      named.isEmpty
      ? ["\(runtime)/pulse/native", "/run/pulse/native"]
      : [String(named.trimmingPrefix("unix:"))]
    var reasons: [String] = []
    for path in paths {
      do throws(SystemError) {
        _ = try MessageSocket.connect(to: path)
        return DoctorCheck(name, .ok, path)
      } catch {
        // A server's socket has another type, which the kernel compares only if a process has it.
        if !error.isAbsence, !error.isAccessRefusal { return DoctorCheck(name, .ok, path) }
        reasons.append("\(error)")
      }
    }
    return DoctorCheck(
      name, .limited, "no sound can be captured: \(reasons[0])",
      fix: "start PulseAudio, or PipeWire with pipewire-pulse, or set PULSE_SERVER")
  }

  /// Whether a process has the compositor's socket. What the compositor can do, only a capture
  /// finds out.
  private static func compositor() -> DoctorCheck {
    func limited(_ why: String, fix: String) -> DoctorCheck {
      DoctorCheck("screen", .limited, "Wayland, where X11 capture is black: \(why)", fix: fix)
    }
    guard let path = WaylandSocket.path() else {
      return limited(
        "no compositor is named", fix: "set WAYLAND_DISPLAY and XDG_RUNTIME_DIR")
    }
    do { _ = try connectStream(to: path) } catch {
      return limited("\(error)", fix: "start the compositor, or set WAYLAND_DISPLAY to its socket")
    }
    let desktops = environmentValue("XDG_CURRENT_DESKTOP")?.split(separator: ":") ?? []
    if let desktop = desktops.first(where: { ["GNOME", "KDE"].contains($0) }) {
      return limited(
        "\(desktop) lets its portal alone capture",
        fix: "`framebus capture portal`, or log in to an X11 session")
    }
    return DoctorCheck(
      "screen", .ok, "Wayland at \(path); `framebus screens` says whether it can be captured")
  }

  private static func display() -> DoctorCheck {
    let isWayland =
      environmentValue("WAYLAND_DISPLAY") != nil
      || environmentValue("XDG_SESSION_TYPE") == "wayland"
    if isWayland { return compositor() }
    guard let display = environmentValue("DISPLAY") else {
      return DoctorCheck(
        "screen", .limited, "no DISPLAY", fix: "`framebus demo` starts a virtual one")
    }
    return DoctorCheck("screen", .ok, display)
  }

  /// Whether PipeWire's camera nodes can be captured, if this user has its server.
  private static func cameraNodes() -> DoctorCheck {
    let name = "camera nodes"
    let folder =
      environmentValue("PIPEWIRE_RUNTIME_DIR") ?? environmentValue("XDG_RUNTIME_DIR")
      ?? "/run/user/\(currentUserID())"
    let socket = environmentValue("PIPEWIRE_REMOTE") ?? "pipewire-0"
    guard (try? Directory(path: folder).status(of: socket)) != nil else {
      return DoctorCheck(name, .ok, "no PipeWire server, which would offer some")
    }
    guard hasPlugin("pipewire") else {
      return DoctorCheck(
        name, .limited, "no plugin pipewire", fix: "apt-get install gstreamer1.0-pipewire")
    }
    return DoctorCheck(name, .ok, "of the PipeWire server \(folder)/\(socket)")
  }

  /// The devices that `upload camera:/dev/videoN` can write. A machine without any lacks nothing.
  private static func loopbackDevices() -> DoctorCheck {
    let names = (try? Directory(path: "/sys/devices/virtual/video4linux").names()) ?? []
    let paths = names.sorted().map { "/dev/\($0)" }
    return DoctorCheck(
      "loopback devices", .ok,
      paths.isEmpty
        ? "none: v4l2loopback-dkms has some, for `upload camera:/dev/videoN`"
        : paths.joined(separator: ", "))
  }

  /// Whether this user may open the Video4Linux devices. A machine without any lacks nothing.
  private static func cameras() -> DoctorCheck {
    let names = (try? Directory(path: "/dev").names(atMost: 16_384)) ?? []
    let paths = names.filter { $0.hasPrefix("video") && UInt16($0.dropFirst(5)) != nil }
      .map { "/dev/\($0)" }
    let refused = paths.filter { path in
      do throws(SystemError) { _ = try Descriptor(device: path) } catch {
        return error.isAccessRefusal
      }
      return false
    }
    if refused.isEmpty {
      return DoctorCheck(
        "cameras", .ok, paths.isEmpty ? "none connected" : paths.joined(separator: ", "))
    }
    return DoctorCheck(
      "cameras", .limited, "no permission to open \(refused.joined(separator: ", "))",
      fix: "`sudo usermod -aG video USER`, then log in again")
  }
}
