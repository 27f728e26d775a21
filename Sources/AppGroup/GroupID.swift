/// The name of a group in reverse-DNS form, such as `group.dev.example.studio`. The group's
/// directories have the same name, so only characters that are safe in a path are allowed.
public struct GroupID: Hashable, Sendable, CustomStringConvertible {
  /// The default group, created on first use.
  public static let local = GroupID(checked: "group.local.framebus")

  /// The longest ID in bytes. The path of a stream's socket usually sets a lower limit.
  public static let maximumBytes = 128

  public let description: String

  /// - Throws: ``GroupIDError`` with the rule that the text breaks.
  public init(_ text: String) throws(GroupIDError) {
    if let rule = Self.brokenRule(text) { throw GroupIDError(text: text, rule: rule) }
    description = text
  }

  private init(checked text: String) { description = text }

  private static func brokenRule(_ text: String) -> String? {
    if text.isEmpty { return "it is empty" }
    if text.utf8.count > maximumBytes { return "it is longer than \(maximumBytes) bytes" }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    if labels.count < 2 { return "it has no dot" }
    for label in labels {
      if label.isEmpty { return "a part between dots is empty" }
      if label.utf8.count > 63 { return "a part is longer than 63 bytes" }
      if !label.utf8.allSatisfy(isLabelByte) { return "only A-Z a-z 0-9 - and dots are allowed" }
      if label.hasPrefix("-") || label.hasSuffix("-") { return "a part begins or ends with -" }
    }
    guard let first = text.utf8.first, isLetter(first) else { return "it begins with a digit" }
    return nil
  }

  private static func isLabelByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || byte == UInt8(ascii: "-")
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

/// A text that is not a valid group ID.
public struct GroupIDError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text that was given.
  public let text: String
  /// The rule that the text breaks, as a clause for the message.
  public let rule: String

  public var description: String {
    "\(printable(text)) is not a valid group ID: \(rule); use a name like group.dev.example.studio"
  }
}
