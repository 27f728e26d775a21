import AppGroup

/// The name of one semaphore within a group, such as `encoder` or `gpu.0`.
public struct SemaphoreName: Hashable, Sendable, CustomStringConvertible {
  public static let maximumBytes = NameRule.maximumBytes

  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit, like the name of a stream.
  public init(_ text: String) throws(SemaphoreNameError) {
    switch NameRule(brokenBy: text) {
    case .length: throw .wrongLength(text, bytes: text.utf8.count)
    case .characters: throw .wrongCharacter(text)
    case nil: self.text = text
    }
  }

  public var description: String { text }
}

public enum SemaphoreNameError: Error, Hashable, Sendable, CustomStringConvertible {
  case wrongLength(String, bytes: Int)
  case wrongCharacter(String)

  public var description: String {
    switch self {
    case .wrongLength(let text, let bytes):
      "the semaphore name “\(text)” has \(bytes) bytes; use 1 to \(SemaphoreName.maximumBytes)"
    case .wrongCharacter(let text):
      "the semaphore name “\(text)” is not allowed; use a–z, 0–9, “.”, “-” and “_”, and begin with "
        + "a letter or digit, as in “encoder” or “gpu.0”"
    }
  }
}
