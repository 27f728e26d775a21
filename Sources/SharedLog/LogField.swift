/// A key and a value that accompany a line's message.
public struct LogField: Hashable, Sendable {
  public let key: String
  public let value: String
  /// Whether the value stays in the group: an exported log says `<private>` instead.
  public let isPrivate: Bool

  public init(_ key: String, _ value: String, isPrivate: Bool = false) {
    self.key = key
    self.value = value
    self.isPrivate = isPrivate
  }

  /// The value as it may leave the group.
  public var sharedValue: String { isPrivate ? "<private>" : value }
}
