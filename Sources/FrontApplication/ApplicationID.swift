import Platform

/// The name of an application, as its windows have it: of its desktop entry where they say that,
/// such as `org.gnome.gedit`, otherwise of its kind, such as `Firefox`.
package struct ApplicationID: Hashable, Sendable, CustomStringConvertible {
  package static let maximumBytes = 255

  package let text: String

  /// - Returns: nil unless it has 1 to 255 bytes, none of which could steer a terminal or forge a
  ///   line of a log.
  package init?(_ text: String) {
    guard (1...Self.maximumBytes).contains(text.utf8.count), text == text.plain else { return nil }
    self.text = text
  }

  /// What somebody else wrote: also nil unless it is UTF-8, up to the first zero.
  package init?(bytes: some Sequence<UInt8>) {
    guard let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) else { return nil }
    self.init(text)
  }

  package var description: String { text }
}
