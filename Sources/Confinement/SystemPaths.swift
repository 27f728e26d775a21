import AppGroup
import Platform

/// Paths and variables that programs of any role need on a usual machine. They contain no user's
/// own data.
enum SystemPaths {
  static var grants: [PathGrant] {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].map { .init(.run, $0) }
      + libraries.map { .init(.run, $0) }
      + [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
        "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/alternatives", "/proc",
        "/sys/devices/system/cpu",
      ].map { .init(.read, $0) }
      + ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"].map {
        .init(.write, $0)
      }
  }

  /// For name resolution and certificates, without directories that contain private keys.
  static let network = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates",
    "/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/crypto-policies",
  ]

  /// GStreamer's plugin registry, without which it scans all plugins at each start.
  static func pluginRegistry(of user: UserAccount?) -> String? {
    if let path = environmentValue("GST_REGISTRY") { return path }
    let home = roleVariable("HOME", of: user)
    let cache = roleVariable("XDG_CACHE_HOME", of: user) ?? home.map { $0 + "/.cache" }
    return cache.map { $0 + "/gstreamer-1.0" }
  }

  static let variables = [
    "HOME", "LANG", "LC_ALL", "PATH", "TZ", "LD_LIBRARY_PATH", "NO_COLOR", "SWIFT_BACKTRACE",
    "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "FRAMEBUS_GROUP", "FRAMEBUS_HOME",
    "FRAMEBUS_LOG_LEVEL", "GST_DEBUG", "GST_DEBUG_NO_COLOR", "GST_PLUGIN_PATH",
    "GST_PLUGIN_SYSTEM_PATH", "GST_REGISTRY", "GST_REGISTRY_UPDATE",
  ]

  /// Directories of the libraries that this program uses, and so the role's program too.
  private static var libraries: [String] {
    let libraries = mappedFilePaths().filter { $0.contains(".so") }.compactMap(folder)
    return Set(libraries).filter { path in
      !["/usr/", "/lib/", "/lib64/"].contains { (path + "/").hasPrefix($0) }
    }.sorted()
  }

  private static func folder(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
    return String(path[..<slash])
  }
}
