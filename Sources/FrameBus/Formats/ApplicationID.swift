import Platform

/// The name of an application, as its windows or its publisher report it: the ID of its desktop
/// entry, such as `org.gnome.gedit`, or its window class, such as `Firefox`.
///
/// Any window can claim any name: display it, but base no decision on it.
public struct ApplicationID: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name.
  public static let maximumBytes = 255

  /// The name itself.
  public let text: String

  /// - Returns: nil unless it has 1 to 255 bytes, without any that could control a terminal or
  ///   forge a line of a log.
  public init?(_ text: String) {
    guard (1...Self.maximumBytes).contains(text.utf8.count), text.isPlain else { return nil }
    self.text = text
  }

  /// Reads an untrusted name, up to the first zero byte. Also nil unless it is UTF-8.
  package init?(bytes: some Sequence<UInt8>) {
    guard let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) else { return nil }
    self.init(text)
  }

  public var description: String { text }
}
