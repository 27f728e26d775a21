/// A key and a value that accompany a line's message.
public struct LogField: Hashable, Sendable {
  /// The name of the field.
  public let key: String
  /// Its text.
  public let value: String
  /// Whether the value stays in the group: an exported log says `<private>` instead.
  public let isPrivate: Bool

  /// A field; a private one is shown, but never exported.
  public init(_ key: String, _ value: String, isPrivate: Bool = false) {
    self.key = key
    self.value = value
    self.isPrivate = isPrivate
  }

  /// The value as it may leave the group.
  public var sharedValue: String { isPrivate ? "<private>" : value }
}
