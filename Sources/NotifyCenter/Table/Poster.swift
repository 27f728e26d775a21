/// A name prepared for repeated posts.
public struct Poster: Sendable {
  let word: NameWord

  /// The name of the notification.
  public var name: NotificationName { word.name }

  /// Posts the name, as ``NotifyCenter/post(_:)``. Takes about 100 ns while no observer sleeps.
  /// - Returns: the name's total number of posts.
  @discardableResult
  public func post() throws(NotifyError) -> UInt64 { try word.post() }

  /// Posts the name without waking this process's own observers, which learn of it with their next
  /// post, or within a second.
  package func postExceptOwn() throws(NotifyError) { try word.post(exceptOwn: true) }
}
