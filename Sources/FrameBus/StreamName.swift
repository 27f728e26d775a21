/// The name of one stream of frames within a group, such as `screen` or `audio.app`.
public struct StreamName: Hashable, Sendable, CustomStringConvertible {
  /// A stream's socket lies at a path, and a path of a socket has 107 bytes.
  public static let maximumBytes = 48

  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit.
  public init(_ text: String) throws(StreamNameError) {
    guard (1...Self.maximumBytes).contains(text.utf8.count) else {
      throw .wrongLength(text, bytes: text.utf8.count)
    }
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): continue
      case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): if index > 0 { continue }
      default: break
      }
      throw .wrongCharacter(text)
    }
    self.text = text
  }

  public var description: String { text }
}

public enum StreamNameError: Error, Hashable, Sendable, CustomStringConvertible {
  case wrongLength(String, bytes: Int)
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
