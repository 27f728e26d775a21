/// Where a sound server gets sound from.
public enum SoundDevice: Hashable, Sendable {
  /// What the machine plays: the sound of its applications.
  case monitor
  /// The server's usual source.
  case microphone
  /// A source by the server's own name.
  case named(String)

  /// - Parameter text: `monitor`, `mic` or a name; nil for `monitor`.
  public init(_ text: String?) {
    switch text {
    case nil, "monitor": self = .monitor
    case "mic": self = .microphone
    case .some(let name): self = .named(name)
    }
  }

  /// The stream that is published if none is named.
  var usualStream: String { self == .microphone ? "audio.mic" : "audio.app" }
}
