/// Calls a handler on an event loop when a directory changes.
package final class DirectoryWatch: Sendable {
  private let loop: EventLoop
  private let changes: ChangeWatch
  private let token: EventLoop.Token

  /// - Parameter loop: the loop that calls the handler; nil for the process's shared loop, which
  ///   handlers must not keep busy.
  package init(
    _ path: String, _ events: ChangeWatch.Events = .appearance, on loop: EventLoop? = nil,
    _ handler: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    if let loop { self.loop = loop } else { self.loop = try EventLoop.shared() }
    let changes = try ChangeWatch([path], events)
    self.changes = changes
    token = try self.loop.add(changes.descriptorNumber, .readable) { _ in
      changes.take()
      handler()
    }
  }

  deinit { loop.remove(token, changes.descriptorNumber) }
}
