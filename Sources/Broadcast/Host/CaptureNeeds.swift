import Platform

/// What a capture needs from the machine besides the needs of every role, derived from its source
/// in the syntax of `framebus capture`.
enum CaptureNeeds: Hashable {
  case nothing
  /// A display such as `:0`; nil for the default.
  case display(String?)
  case file(String)
  case soundServer
  /// A device, another machine, or any element of a pipeline.
  case unknown

  init(source: String) {
    let parts = source.split(separator: ":", maxSplits: 1).map(String.init)
    let argument = parts.count == 2 ? parts[1] : nil
    switch parts.first {
    case "test", "tone", "beep": self = .nothing
    case "window": self = Self.ofDisplay(environmentValue("DISPLAY"))
    case "screen":
      // `screen:1` and `screen::1` are equal; a display of another machine needs a network.
      let name = argument.map { $0.contains(":") ? $0 : ":" + $0 } ?? environmentValue("DISPLAY")
      self = Self.ofDisplay(name)
    case "y4m" where argument == "-": self = .nothing
    case "pulse": self = Self.ofSoundServer(environmentValue("PULSE_SERVER") ?? "")
    case "file", "y4m": self = argument.map { .file(absolutePath($0)) } ?? .nothing
    default: self = .unknown
    }
  }

  /// A display of another machine, such as one forwarded by ssh(1), needs a network.
  static func ofDisplay(_ name: String?) -> CaptureNeeds {
    name?.hasPrefix(":") == false ? .unknown : .display(name)
  }

  /// - Parameter name: the value of PULSE_SERVER; empty if unset. One socket can be granted;
  ///   another machine, or a list of servers, cannot.
  static func ofSoundServer(_ name: String) -> CaptureNeeds {
    let isLocal = name.isEmpty || name.hasPrefix("unix:") || name.hasPrefix("/")
    return isLocal && !name.contains(" ") ? .soundServer : .unknown
  }
}

/// The absolute form of a path, valid in every working directory.
func absolutePath(_ path: String) -> String {
  if path.hasPrefix("/") { return path }
  guard let folder = try? currentDirectoryPath() else { return path }
  return folder == "/" ? "/" + path : "\(folder)/\(path)"
}
