import CFrameLayout
import Platform

extension Subscriber {
  /// A descriptor to wait on with `epoll(7)`, `poll(2)`, io_uring or GLib. It does not change
  /// during the subscriber's life. Nil unless `SubscriberOptions.wait` is `.eventDescriptor`.
  ///
  /// It is readable when there may be a frame, when the stream has ended, when the publisher has
  /// died, and when a new publisher may have started. It is level-triggered: it stays readable
  /// until `poll()` returns nil. After each wake-up call `poll()` until it returns nil, or at least
  /// once; an edge-triggered wait must call it until it returns nil. Spurious wake-ups are
  /// possible. Only wait on it: reading from it fails, and the subscriber closes it.
  ///
  /// Cost: one system call of the publisher for each frame after the first `poll()` that returned
  /// nil, and one or two of this process for each `poll()` that returns nil.
  public var eventDescriptor: Int32? { eventSource?.number }

  /// Polls once. The event descriptor, if any, becomes readable for everything not seen here.
  @inline(__always)
  mutating func pollAndArm() throws(ReceiveError) -> Step {
    guard let eventSource else { return try step() }
    return try pollAndArm(eventSource)
  }

  private mutating func pollAndArm(_ eventSource: EventSource) throws(ReceiveError) -> Step {
    switch try step() {
    case .frame(let lease): return .frame(lease)
    case .finished(let reason): return .finished(reason)
    case .nothing: break
    case .awaitBell: break
    }
    // SYNC bell/silence: the bells are read, then comes the last poll. Pairs with the ring that
    // follows each publish (Bells.ring): that poll sees each frame whose ring is read here, and
    // any other ring is still to come.
    if !eventSource.silence(attachment?.bell) { attachment?.endWithBell() }
    // From now on the publisher rings for every frame, whether or not anybody sleeps: the user of
    // a descriptor does not announce its sleep.
    _ = attachment?.prepareToSleep(Int32(FB_WAITING_BELL))
    switch try step() {
    case .frame(let lease):
      // Another frame may follow this one, for which no bell would ring.
      eventSource.counter.raise()
      return .frame(lease)
    case .awaitBell:
      // The user's event loop has no timer to poll again.
      eventSource.raiseLater()
      return .awaitBell
    case .nothing: return .nothing
    case .finished(let reason): return .finished(reason)
    }
  }
}
