/// The name of one semaphore within a group, such as `encoder` or `gpu.0`.
public struct SemaphoreName: Hashable, Sendable, CustomStringConvertible {
  public static let maximumBytes = 48

  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit, as the names of streams.
  public init(_ text: String) throws(SemaphoreNameError) {
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
