import Platform
import Synchronization

/// The source of a subscriber's event descriptor: the bell of its current attachment, which the
/// publisher rings, and a counter that this process raises for everything else. Both are in one
/// set, whose descriptor stays the same across publishers.
final class EventSource: Sendable {
  let counter: EventCounter
  private let members: ReadySet
  private let willBeRaised = Atomic<Bool>(false)

  /// - Returns: nil for subscribers that wait in another way.
  init?(for wait: WaitKind) throws(SubscriberError) {
    guard wait == .eventDescriptor else { return nil }
    do throws(SystemError) {
      counter = try EventCounter()
      members = try ReadySet()
      try members.add(counter.number)
    } catch { throw .system(error) }
  }

  var number: Int32 { members.number }

  /// Adds an attachment's bell. The descriptor becomes readable: there may be frames already.
  func listen(to bell: BellSocket) {
    // On failure the counter remains, which is raised at each publisher's end.
    try? members.add(bell.number)
    counter.raise()
  }

  /// Makes the descriptor readable after the retry interval, for events that may go unnoticed.
  func raiseLater() {
    guard !willBeRaised.exchange(true, ordering: .sequentiallyConsistent) else { return }
    _ = try? EventLoop.shared().schedule(at: .after(Subscriber.retryInterval)) { [weak self] in
      self?.willBeRaised.store(false, ordering: .sequentiallyConsistent)
      self?.counter.raise()
    }
  }

  /// Makes the descriptor unreadable until the next event. Call it before a last poll.
  /// - Returns: false if the publisher's end of the bell is closed.
  func silence(_ bell: BellSocket?) -> Bool {
    counter.lower()
    guard let bell, !bell.silence() else { return true }
    members.remove(bell.number)
    return false
  }
}
