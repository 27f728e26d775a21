import AppGroup

/// The name of one stream of frames within a group, such as `screen` or `audio.app`.
public struct StreamName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name.
  public static let maximumBytes = NameRule.maximumBytes

  /// The name itself.
  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit.
  public init(_ text: String) throws(StreamNameError) {
    switch NameRule(brokenBy: text) {
    case .length: throw .wrongLength(text, bytes: text.utf8.count)
    case .characters: throw .wrongCharacter(text)
    case nil: self.text = text
    }
  }

  public var description: String { text }
}

/// Why a text cannot name a stream.
public enum StreamNameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is empty or too long.
  case wrongLength(String, bytes: Int)
  /// It has a character other than `a–z`, `0–9`, `.`, `-` and `_`, or begins with a sign.
  case wrongCharacter(String)

  public var description: String {
    switch self {
    case .wrongLength(let text, let bytes):
      "the stream name “\(text)” has \(bytes) bytes; use 1 to \(StreamName.maximumBytes)"
    case .wrongCharacter(let text):
      "the stream name “\(text)” is not allowed; use a–z, 0–9, “.”, “-” and “_”, and begin with "
        + "a letter or digit, as in “screen” or “audio.app”"
    }
  }
}
