import Synchronization

/// What a publisher says of its stream besides the frames: `Publisher.annotation`. Subscribers
/// receive a change as an event and `framebus streams` shows it. It ends with the publisher.
///
/// Any thread may change it. The control plane sends it, so no frame waits for it: a change arrives
/// shortly before or after the frames that are published at that time, and of changes in quick
/// succession perhaps only the last.
public final class StreamAnnotation: Sendable {
  private struct State {
    var application: ApplicationID?
    var changed: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  init() {}

  /// The application that the frames show; nil if none is known.
  public var application: ApplicationID? {
    get { state.withLock { $0.application } }
    set {
      let changed = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.application != newValue else { return nil }
        state.application = newValue
        return state.changed
      }
      changed?()
    }
  }

  /// Calls a closure after each change from now on, on the thread that makes it.
  func observe(_ changed: @escaping @Sendable () -> Void) {
    state.withLock { $0.changed = changed }
  }
}
