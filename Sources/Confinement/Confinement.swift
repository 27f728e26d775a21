import AppGroup
import Platform

// What a role's process may do, and how one is started that can do no more. The program
// framebus-confine takes everything else away and then becomes the role's program, because neither
// posix_spawn(3) nor a stranger's extension would. This module refuses to decide when a role runs,
// and what a confined process says about itself: the kernel keeps the rules.

/// What one process may do. Whatever is not named here it may not, as far as the kernel at hand can
/// keep it from that: the report of a start says measure by measure what is so.
package struct Confinement: Hashable, Sendable {
  package enum Sockets: String, Sendable {
    /// Unix sockets alone, of paths it can reach.
    case local
    /// The Internet as well.
    case internet
    /// The Internet, and of Unix sockets those it inherits: it can make none.
    case inherited
  }

  /// A path and what may be done with it and, but for `list`, all below it.
  package struct Grant: Hashable, Sendable {
    package enum Access: String, Sendable {
      /// A directory that other grants lie in: it can be listed.
      case list
      case read
      /// Reading, and running as a program or library.
      case run
      /// Reading, writing, making and removing.
      case write
    }

    package let access: Access
    package let path: String

    package init(_ access: Access, _ path: String) {
      self.access = access
      self.path = path
    }
  }

  package var sockets = Sockets.local
  /// Absolute paths; what does not exist is left out.
  package var grants: [Grant] = []
  /// Names of environment variables that stay.
  package var variables: [String] = []
  /// Whether a user without rights may make a user namespace to get a private root. In it, all
  /// other users are the same nobody: no place for a role of a group that several users share.
  package var mayMapUsers = true
  /// How much memory of its own it may take; the frames it shares with others do not count.
  package var memoryBytes: UInt64?

  package init() {}

  /// Grants what the environment names. From a path that is not absolute, a role would look
  /// somewhere else than its host: it is left out.
  private mutating func grantNamed(_ access: Grant.Access, _ path: String) {
    if path.hasPrefix("/") { grants.append(Grant(access, path)) }
  }

  /// With the right to run a program, and the programs of roles beside it, one by one: it may lie
  /// in somebody's home.
  func running(_ path: String) -> Confinement {
    var result = self
    result.grants += ([path] + SystemPaths.rolePrograms(beside: path)).map { Grant(.run, $0) }
    return result
  }
}

extension Confinement {
  /// A process that owns a screen: no network, no credentials; of the host's files what programs
  /// are made of.
  /// - Parameter display: such as `:0`, whose socket and cookie it gets; nil for none.
  package static func capture(in group: AppGroup, display: String? = nil) -> Confinement {
    var result = member(of: group)
    if let display {
      let number = display.drop { $0 == ":" }.prefix { $0.isNumber }
      result.grants.append(Grant(.write, "/tmp/.X11-unix/X\(number)"))
      if let cookies = environmentValue("XAUTHORITY") {
        result.grantNamed(.read, cookies)
      } else if let home = environmentValue("HOME") {
        result.grantNamed(.read, home + "/.Xauthority")
      }
      result.variables += ["DISPLAY", "XAUTHORITY"]
    }
    return result
  }

  /// A process that hears what a sound server has, and nothing else: its socket and cookie, as
  /// libpulse looks for them.
  package static func soundCapture(in group: AppGroup) -> Confinement {
    var result = member(of: group)
    let server = environmentValue("PULSE_SERVER") ?? ""
    if let runtime = environmentValue("XDG_RUNTIME_DIR") {
      result.grantNamed(.write, runtime + "/pulse")
    }
    // A path by itself means the same.
    result.grantNamed(.write, String(server.trimmingPrefix("unix:")))
    let home = environmentValue("HOME").map { $0 + "/.config/pulse/cookie" }
    if let cookie = environmentValue("PULSE_COOKIE") ?? home {
      result.grantNamed(.read, cookie)
    }
    result.variables += ["PULSE_SERVER", "PULSE_COOKIE", "XDG_RUNTIME_DIR", "HOME"]
    return result
  }

  /// A process that sends what others captured: the network, and neither a display, nor a session
  /// bus, nor the host's files. Its credential comes by a descriptor (`HandOver`); of the store it
  /// sees what is sealed, and no key.
  package static func `extension`(in group: AppGroup, memoryBytes: UInt64? = nil) -> Confinement {
    var result = member(of: group)
    result.sockets = .internet
    result.memoryBytes = memoryBytes
    result.grants += SystemPaths.network.map { Grant(.read, $0) }
    let store = group.containerPath + "/credentials"
    result.grants += [store, store + "/keys", store + "/audit"].map { Grant(.list, $0) }
    result.grants += [
      store + "/index", store + "/items", group.runPath + "/credentials.anchor",
    ].map { Grant(.read, $0) }
    result.grants.append(Grant(.write, store + "/audit/extension.chain"))
    // Certificates that the user trusts instead of the machine's, and the way into the network.
    let folders = (environmentValue("SSL_CERT_DIR") ?? "").split(separator: ":").map(String.init)
    for path in [environmentValue("SSL_CERT_FILE") ?? ""] + folders {
      result.grantNamed(.read, path)
    }
    result.variables += ["FRAMEBUS_HANDED_FD", "SSL_CERT_FILE", "SSL_CERT_DIR"]
    result.variables += ["http", "https", "all", "no"].map { $0 + "_proxy" }
    result.variables += ["HTTP", "HTTPS", "ALL", "NO"].map { $0 + "_PROXY" }
    return result
  }

  /// A program that is in no group, to try what this machine can keep from it.
  package static func systemAlone(_ sockets: Sockets) -> Confinement {
    var result = Confinement()
    result.sockets = sockets
    result.grants = SystemPaths.grants
    result.variables = SystemPaths.variables
    return result
  }

  /// What every role needs: programs and libraries, and the group's shared places, but for its
  /// credentials.
  private static func member(of group: AppGroup) -> Confinement {
    var result = systemAlone(.local)
    result.mayMapUsers = group.hasOneUser
    result.grants += group.confinedPlaces.map { Grant(.list, $0) }
    result.grants.append(Grant(.read, group.containerPath + "/manifest.toml"))
    if let path = SystemPaths.pluginRegistry { result.grantNamed(.read, path) }
    result.grants += [
      group.containerPath + "/audit", group.containerPath + "/defaults", group.logsPath,
      group.streamsPath, group.semaphoresPath, group.notifyPath, group.logSegmentsPath,
    ].map { Grant(.write, $0) }
    return result
  }
}

extension AppGroup {
  /// The group's directories and those that hold it, which a member looks into to find it.
  fileprivate var confinedPlaces: [String] {
    func parent(_ path: String) -> String {
      String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
    let states = parent(containerPath)
    let runs = parent(runPath)
    let isRoot = parent(states) == parent(runs)
    return (isRoot ? [parent(states)] : []) + [states, runs, containerPath, runPath]
  }
}
