import Platform

/// What programs are made of on a usual machine, and need whichever role they have. None of it is
/// anybody's own.
enum SystemPaths {
  static var grants: [Confinement.Grant] {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64"].map { .init(.run, $0) }
      + programFolders.map { .init(.run, $0) }
      + [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
        "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/alternatives", "/proc",
        "/sys/devices/system/cpu",
      ].map { .init(.read, $0) }
      + ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"].map {
        .init(.write, $0)
      }
  }

  /// What names and certificates are looked up in.
  static let network = [
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
    "/etc/protocols", "/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/etc/crypto-policies",
  ]

  static let variables = [
    "HOME", "LANG", "LC_ALL", "PATH", "TZ", "LD_LIBRARY_PATH", "NO_COLOR", "SWIFT_BACKTRACE",
    "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "FRAMEBUS_GROUP", "FRAMEBUS_HOME", "GST_DEBUG",
    "GST_DEBUG_NO_COLOR",
    "GST_PLUGIN_PATH", "GST_PLUGIN_SYSTEM_PATH", "GST_REGISTRY", "GST_REGISTRY_UPDATE",
  ]

  /// Where this program and its libraries lie: the role's do too.
  private static var programFolders: [String] {
    Set(mappedFilePaths().compactMap(folder)).filter { path in
      !["/usr/", "/lib/", "/lib64/"].contains { (path + "/").hasPrefix($0) }
    }.sorted()
  }

  static func folder(of path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
    return String(path[..<slash])
  }
}
