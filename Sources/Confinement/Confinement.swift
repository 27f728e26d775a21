import AppGroup
import Platform

// Sandboxes a role: what it may do, and the start of a program with these rights only. The program
// framebus-confine drops all other rights and then executes the role's program, because neither
// posix_spawn(3) nor a third-party extension does that. This module refuses to decide when a role
// runs, or to trust what a confined process says about itself: the kernel enforces the rules.

/// The rights of one process. It has no others, as far as this kernel can enforce that: the report
/// of a start says for each measure whether it is enforced.
package struct Confinement: Hashable, Sendable {
  package enum Sockets: String, Sendable {
    /// Unix sockets only, of paths that it can reach.
    case local
    /// Internet sockets as well.
    case internet
    /// Internet sockets, and inherited Unix sockets: it cannot create further ones.
    case inherited
  }

  package var sockets = Sockets.local
  /// Absolute paths. Paths that do not exist are skipped.
  package var grants: [PathGrant] = []
  /// Names of environment variables to keep.
  package var variables: [String] = []
  /// Those that a process of another user than its host's gets without confinement.
  static let variablesOfOtherUsers =
    SystemPaths.variables + [
      "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "PULSE_SERVER", "PULSE_COOKIE",
    ]
  /// Whether an unprivileged user may use a user namespace to get a private root. All other users
  /// appear as nobody in it, so it does not suit a group that several users share.
  package var mayMapUsers = true
  /// Limit of the process's own memory; frames shared with others do not count.
  package var memoryBytes: UInt64?

  package init() {}

  /// Grants the graphics cards that encode (DRM's render nodes, which control no screen), and what
  /// libdrm and libudev read of them.
  package mutating func grantRenderNodes(in folder: String = "/dev/dri") {
    let names = (try? Directory(path: folder).names()) ?? []
    for name in names.sorted() where name.hasPrefix("renderD") {
      grants.append(PathGrant(.write, folder + "/" + name))
      grants.append(PathGrant(.read, "/sys/class/drm/\(name)/device"))
    }
    grants += ["/sys/class/drm", "/sys/dev/char"].map { PathGrant(.read, $0) }
  }

  /// Grants a path from the environment. A relative path is skipped, because the role may have
  /// another working directory than its host.
  private mutating func grantNamed(_ access: PathGrant.Access, _ path: String) {
    if path.hasPrefix("/") { grants.append(PathGrant(access, path)) }
  }
}

extension Confinement {
  /// For a process that captures a screen: no network, no credentials, and only programs and
  /// libraries of the host's files.
  /// - Parameters:
  ///   - display: such as `:0`; grants its socket and cookie. Nil for none.
  ///   - compositor: the path of its socket, which it grants. Nil for none.
  ///   - user: the user that it runs as; nil for this process's.
  package static func capture(
    in group: AppGroup, display: String? = nil, compositor: String? = nil,
    as user: UserAccount? = nil
  ) -> Confinement {
    var result = member(of: group, as: user)
    if let compositor {
      result.grantNamed(.write, compositor)
      result.variables.append("WAYLAND_DISPLAY")
    }
    if let display {
      let number = display.drop { $0 == ":" }.prefix { $0.isNumber }
      result.grants.append(PathGrant(.write, "/tmp/.X11-unix/X\(number)"))
      if let cookies = environmentValue("XAUTHORITY") {
        result.grantNamed(.read, cookies)
      } else if let home = roleVariable("HOME", of: user) {
        result.grantNamed(.read, home + "/.Xauthority")
      }
      result.variables += ["DISPLAY", "XAUTHORITY"]
    }
    return result
  }

  /// For a process that captures sound only: grants the sound server's socket and cookie, where
  /// libpulse looks for them.
  package static func soundCapture(
    in group: AppGroup, as user: UserAccount? = nil
  ) -> Confinement {
    var result = member(of: group, as: user)
    let server = environmentValue("PULSE_SERVER") ?? ""
    if let runtime = roleVariable("XDG_RUNTIME_DIR", of: user) {
      result.grantNamed(.write, runtime + "/pulse")
    }
    // A path without “unix:” means the same.
    result.grantNamed(.write, String(server.trimmingPrefix("unix:")))
    let home = roleVariable("HOME", of: user).map { $0 + "/.config/pulse/cookie" }
    if let cookie = environmentValue("PULSE_COOKIE") ?? home {
      result.grantNamed(.read, cookie)
    }
    result.variables += ["PULSE_SERVER", "PULSE_COOKIE", "XDG_RUNTIME_DIR", "HOME"]
    return result
  }

  /// For a process that captures the sound of a PipeWire node: grants the server's socket, which
  /// leads to all that the user's programs may use of the server.
  package static func pipeWireCapture(
    in group: AppGroup, as user: UserAccount? = nil
  ) -> Confinement {
    var result = member(of: group, as: user)
    let runtime =
      environmentValue("PIPEWIRE_RUNTIME_DIR") ?? roleVariable("XDG_RUNTIME_DIR", of: user)
    let socket = environmentValue("PIPEWIRE_REMOTE") ?? "pipewire-0"
    if socket.hasPrefix("/") {
      result.grantNamed(.write, socket)
    } else if let runtime {
      result.grantNamed(.write, runtime + "/" + socket)
    }
    result.variables += ["PIPEWIRE_RUNTIME_DIR", "PIPEWIRE_REMOTE", "XDG_RUNTIME_DIR"]
    return result
  }

  /// For a process that sends captured frames: the network, but no display, no session bus, and no
  /// files of the host. The caller adds what it needs of the credential store.
  package static func `extension`(
    in group: AppGroup, memoryBytes: UInt64? = nil, as user: UserAccount? = nil
  ) -> Confinement {
    var result = member(of: group, as: user)
    result.sockets = .internet
    result.memoryBytes = memoryBytes
    result.grants += SystemPaths.network.map { PathGrant(.read, $0) }
    // The user's certificates, and its proxies.
    let folders = (environmentValue("SSL_CERT_DIR") ?? "").split(separator: ":").map(String.init)
    for path in [environmentValue("SSL_CERT_FILE") ?? ""] + folders {
      result.grantNamed(.read, path)
    }
    result.variables += ["SSL_CERT_FILE", "SSL_CERT_DIR"]
    result.variables += ["http", "https", "all", "no"].map { $0 + "_proxy" }
    result.variables += ["HTTP", "HTTPS", "ALL", "NO"].map { $0 + "_PROXY" }
    return result
  }

  /// For a program in no group, to find out which measures this machine supports.
  package static func systemAlone(_ sockets: Sockets) -> Confinement {
    var result = Confinement()
    result.sockets = sockets
    result.grants = SystemPaths.grants
    result.variables = SystemPaths.variables
    return result
  }

  /// Common to all roles: programs and libraries, and the group's shared directories except for
  /// credentials.
  private static func member(of group: AppGroup, as user: UserAccount?) -> Confinement {
    var result = systemAlone(.local)
    result.mayMapUsers = group.hasOneUser
    result.grants += group.memberGrants
    if let path = SystemPaths.pluginRegistry(of: user) { result.grantNamed(.read, path) }
    return result
  }
}
