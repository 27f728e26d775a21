import Platform
import Synchronization

/// What a subscriber's event descriptor is made of: the bell of its present attachment, which the
/// publisher rings, and a counter that its own process raises for everything else. Both lie in one
/// set, whose descriptor stays the same from publisher to publisher.
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

  /// Listens to an attachment's bell. Readable from now on, as there may be frames already.
  func listen(to bell: BellSocket) {
    // Without memory for this the counter is left, which is raised at each publisher's end.
    try? members.add(bell.number)
    counter.raise()
  }

  /// Makes it readable in a while, for who waits for something that may come unseen.
  func raiseLater() {
    guard !willBeRaised.exchange(true, ordering: .sequentiallyConsistent) else { return }
    _ = try? EventLoop.shared().schedule(at: .after(Subscriber.retryInterval)) { [weak self] in
      self?.willBeRaised.store(false, ordering: .sequentiallyConsistent)
      self?.counter.raise()
    }
  }

  /// Makes the descriptor silent until something new happens: to be called before a last look.
  /// - Returns: false if the bell's ringer has gone.
  func silence(_ bell: BellSocket?) -> Bool {
    counter.lower()
    guard let bell, !bell.silence() else { return true }
    members.remove(bell.number)
    return false
  }
}
