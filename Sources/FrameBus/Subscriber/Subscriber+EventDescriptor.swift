import CFrameLayout
import Platform

extension Subscriber {
  /// A descriptor to wait on with `epoll(7)`, `poll(2)`, io_uring or GLib, the same for the
  /// subscriber's whole life; nil unless its options ask for `.eventDescriptor`.
  ///
  /// It is readable when there may be a frame, when the stream has ended, when the publisher has
  /// died, and when a new one may have come. It is level-triggered: it stays readable until
  /// `poll()` has returned nil, so the rule is to wait for it, then to call `poll()` until that
  /// returns nil, or at least once. It can be readable without need. An edge-triggered wait must
  /// call `poll()` until it returns nil. It can only be waited on: reading from it fails, and
  /// closing it is the subscriber's own.
  ///
  /// Cost: one system call of the publisher for each frame from the first `poll()` that returned
  /// nil on, and one or two of this process for each `poll()` that returns nil.
  public var eventDescriptor: Int32? { eventSource?.number }

  /// One look; who waits on a descriptor is sure to be told of all that this has not seen.
  @inline(__always)
  mutating func lookAndArm() throws(ReceiveError) -> Step {
    guard let eventSource else { return try step() }
    return try lookAndArm(eventSource)
  }

  private mutating func lookAndArm(_ eventSource: EventSource) throws(ReceiveError) -> Step {
    switch try step() {
    case .frame(let lease): return .frame(lease)
    case .finished(let reason): return .finished(reason)
    case .nothing: break
    case .awaitBell: break
    }
    // SYNC bell/silence: the bells are taken out, then comes the last look. Pairs with the ring
    // that follows each publish (Bells.ring): what was published before a bell that is taken out
    // here is seen by that look, and any other bell is still to come.
    if !eventSource.silence(attachment?.bell) { attachment?.endWithBell() }
    // From the first time on the publisher rings for every frame, whether or not somebody sleeps: a
    // descriptor has no moment at which its user says so.
    _ = attachment?.prepareToSleep(Int32(FB_WAITING_BELL))
    switch try step() {
    case .frame(let lease):
      // Another frame may lie behind this one, for which no bell would come.
      eventSource.counter.raise()
      return .frame(lease)
    case .awaitBell:
      // The user's own loop has no deadline for looking again.
      eventSource.raiseLater()
      return .awaitBell
    case .nothing: return .nothing
    case .finished(let reason): return .finished(reason)
    }
  }
}
