/// One name, ready to be posted often.
public struct Poster: Sendable {
  let word: NameWord

  public var name: NotificationName { word.name }

  /// Posts the name, as ``NotifyCenter/post(_:)``. About 100 ns while nobody sleeps on it.
  /// - Returns: how often the name has been posted in all.
  @discardableResult
  public func post() throws(NotifyError) -> UInt64 { try word.post() }
}
