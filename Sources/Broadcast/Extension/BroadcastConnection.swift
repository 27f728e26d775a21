import Synchronization
import Upload

/// Whether an extension's destination accepts samples, as the extension reports it.
///
/// Without a report, the broadcast is live once the handler has processed its first sample. An
/// extension that sends to a server reports ``connecting(_:)`` in `broadcastStarted`, and
/// ``live()`` when the server has accepted a sample; after a lost connection it does so again. The
/// host and `framebus broadcast status` then show what the user needs to know.
public final class BroadcastConnection: Sendable {
  enum State: Hashable, Sendable {
    case unreported
    case connecting(failure: String)
    case live
  }
  private struct Values {
    var state = State.unreported
    var refusedSettings: [String: String] = [:]
    var destinations: [DestinationFigures] = []
    var wake: Wake?
  }
  private let values = Mutex(Values())

  init() {}

  /// Reports that no sample is accepted: the phase is `connecting` until ``live()``. Any thread may
  /// call it.
  /// - Parameter failure: why the last attempt failed; empty before the first has. Every member of
  ///   the group can read it, so it must not contain a secret.
  public func connecting(_ failure: String = "") {
    report(.connecting(failure: failure.prefix(ofBytes: BroadcastRecord.maximumTextBytes)))
  }

  /// Reports that the destination has accepted a sample. Any thread may call it.
  public func live() { report(.live) }

  private func report(_ state: State) {
    values.withLock { values in
      if values.state == state { return }
      values.state = state
      values.wake?.raise()
    }
  }

  /// Reports a setting whose value cannot be used, so that the former one counts; nil once it can.
  package func refused(_ setting: String, _ why: String?) {
    let why = why.map { $0.prefix(ofBytes: BroadcastRecord.maximumTextBytes) }
    values.withLock { values in
      if values.refusedSettings[setting] == why { return }
      values.refusedSettings[setting] = why
      values.wake?.raise()
    }
  }

  /// Reports the figures of all destinations, for `framebus broadcast status`.
  package func report(_ destinations: [DestinationFigures]) {
    values.withLock { values in
      if values.destinations == destinations { return }
      values.destinations = destinations
      values.wake?.raise()
    }
  }

  /// Makes the run read ``IdleHandler/worksAt`` again. Any thread may call it.
  package func wakeHandler() { values.withLock { $0.wake?.raise() } }

  var state: State { values.withLock { $0.state } }
  var destinations: [DestinationFigures] { values.withLock { $0.destinations } }
  var refusedSettings: [String: String] { values.withLock { $0.refusedSettings } }

  func connect(_ wake: Wake) { values.withLock { $0.wake = wake } }
}
