/// The name of one mailbox within a group, such as `commands` or `encoder.0`.
public struct MailboxName: Hashable, Sendable, CustomStringConvertible {
  public static let maximumBytes = 48

  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit, as the names of streams.
  public init(_ text: String) throws(MailboxNameError) {
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

  /// The socket through which letters come, and the lock that makes its owner the only one.
  var socketName: String { text + ".sock" }
  var lockName: String { text + ".lock" }
}

public enum MailboxNameError: Error, Hashable, Sendable, CustomStringConvertible {
  case wrongLength(String, bytes: Int)
  case wrongCharacter(String)

  public var description: String {
    switch self {
    case .wrongLength(let text, let bytes):
      "the mailbox name “\(text)” has \(bytes) bytes; use 1 to \(MailboxName.maximumBytes)"
    case .wrongCharacter(let text):
      "the mailbox name “\(text)” is not allowed; use a–z, 0–9, “.”, “-” and “_”, and begin with a "
        + "letter or digit, as in “commands” or “encoder.0”"
    }
  }
}
