/// A sound server's device.
public enum SoundDevice: Hashable, Sendable {
  /// The monitor of the output: the sound of this machine's applications.
  case monitor
  /// The server's default source.
  case microphone
  /// A source, by the server's name for it.
  case named(String)

  /// - Parameter text: `monitor`, `mic` or a name; nil for `monitor`.
  public init(_ text: String?) {
    switch text {
    case nil, "monitor": self = .monitor
    case "mic": self = .microphone
    case .some(let name): self = .named(name)
    }
  }

  /// The text that gives this device; nil for the default.
  var text: String? {
    switch self {
    case .monitor: nil
    case .microphone: "mic"
    case .named(let name): name
    }
  }

  static let usualStreams = [monitor, microphone].map(\.usualStream)

  /// The stream that is published if the user names none.
  var usualStream: String { self == .microphone ? "audio.mic" : "audio.app" }
}
