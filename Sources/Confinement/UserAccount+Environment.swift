import Platform

extension UserAccount {
  /// The variables of a role that runs as this user instead of as its host's: the paths of the
  /// host's user are removed. XAUTHORITY and the variables that name a server stay.
  package var environment: [String: String?] {
    var result: [String: String?] = ["HOME": home, "USER": name, "LOGNAME": name]
    let runtime = "/run/user/\(id)"
    let isOwn = (try? Directory(path: runtime).status().ownerID) == id
    result.updateValue(isOwn ? runtime : nil, forKey: "XDG_RUNTIME_DIR")
    for path in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
      result.updateValue(nil, forKey: path)
    }
    result.updateValue(nil, forKey: "DBUS_SESSION_BUS_ADDRESS")
    return result
  }
}

/// The environment variable of a role; nil if it is unset or empty.
/// - Parameter user: the user that the role runs as; nil for this process's.
func roleVariable(_ name: String, of user: UserAccount?) -> String? {
  user?.environment[name] ?? environmentValue(name)
}
