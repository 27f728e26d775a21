import AppGroup
import Platform

/// The name of one mailbox within a group, such as `commands` or `encoder.0`.
public struct MailboxName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name.
  public static let maximumBytes = NameRule.maximumBytes

  /// The name itself.
  public let text: String

  /// - Parameter text: 1…48 bytes of `a–z`, `0–9`, `.`, `-` and `_`, beginning with a letter or
  ///   digit, like a stream name.
  public init(_ text: String) throws(MailboxNameError) {
    switch NameRule(brokenBy: text) {
    case .length: throw .wrongLength(text, bytes: text.utf8.count)
    case .characters: throw .wrongCharacter(text)
    case nil: self.text = text
    }
  }

  public var description: String { text }
}

extension AppGroup {
  /// Where a mailbox's owner listens.
  func endpoint(of name: MailboxName) -> Endpoint { Endpoint(name.text, in: mailboxesPath) }
}

/// Why a text cannot name a mailbox.
public enum MailboxNameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is empty or too long.
  case wrongLength(String, bytes: Int)
  /// It has a character other than `a–z`, `0–9`, `.`, `-` and `_`, or begins with a sign.
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
