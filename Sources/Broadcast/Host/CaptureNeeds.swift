import Capture
import Platform

/// What a capture needs from the machine besides the needs of every role, derived from its source
/// in the syntax of `framebus capture`.
enum CaptureNeeds: Hashable {
  case nothing
  /// A display such as `:0`; nil for the default. In a Wayland session its screen may be the
  /// compositor's, whose socket the capture then needs as well.
  case display(String?, compositor: String? = nil)
  /// The socket of a Wayland compositor; nil if the environment names none.
  case compositor(String?)
  case file(String)
  case soundServer
  /// The socket of the user's PipeWire server.
  case pipeWire
  /// The device of a camera.
  case camera(String)
  /// A connection to PipeWire, which the host is granted and passes on.
  case grant
  /// The network.
  case network
  /// A device, or any element of a pipeline.
  case unknown

  /// - Parameter compositor: the socket of a Wayland compositor; nil for the environment's.
  init(source: String, compositor: String? = nil) {
    guard let source = try? SourceSpecification(source) else {
      self = .unknown
      return
    }
    switch source.kind.needs {
    case .nothing, .publisher: self = .nothing
    case .display:
      self = Self.ofDisplay(source.display ?? environmentValue("DISPLAY"))
      if source == .screen(display: nil), case .display(let name, _) = self {
        self = .display(name, compositor: WaylandSocket.path(compositor))
      }
    case .compositor: self = .compositor(WaylandSocket.path(compositor))
    case .file: self = source.path.map { .file(absolutePath($0)) } ?? .nothing
    case .soundServer: self = Self.ofSoundServer(environmentValue("PULSE_SERVER") ?? "")
    case .pipeWire: self = .pipeWire
    case .camera: self = source.path.map { .camera($0) } ?? .unknown
    case .grant: self = .grant
    case .network: self = .network
    case .anything: self = .unknown
    }
  }

  /// The program that captures a source. It reports a source that it cannot capture.
  static func program(of source: String) -> String {
    (try? SourceSpecification(source))?.kind.program ?? SourceKind.plainProgram
  }

  /// Whether its capture loads GStreamer's plugins, as that of a camera does for encoded pictures.
  static func usesPlugins(_ source: String) -> Bool {
    let kind = (try? SourceSpecification(source))?.kind
    return kind?.usesGStreamer == true || kind?.needs == .camera
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
package func absolutePath(_ path: String) -> String {
  if path.hasPrefix("/") { return path }
  guard let folder = try? currentDirectoryPath() else { return path }
  return folder == "/" ? "/" + path : "\(folder)/\(path)"
}
