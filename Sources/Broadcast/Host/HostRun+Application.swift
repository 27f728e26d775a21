import FrameBus
import Platform
import Synchronization

/// The name of an application that publishes its own frames. A capture follows a setting of the
/// group; an application knows only its publisher, which takes the name from the host.
extension HostRun {
  /// Passes on a name that a host has set. While nobody publishes the stream it stays in the
  /// record, which the extension changes once somebody does.
  ///
  /// On a thread of its own, because a stopped application answers only after the timeout. One name
  /// at a time: the change of the record, or of another, wakes the supervision again.
  func deliverApplication(of record: BroadcastRecord) {
    // Checked, because any publishing member can write the record.
    guard let request = starter?.request, let stream = request.publishedStream,
      let name = ApplicationID(record.undeliveredApplication), delivery.begin()
    else { return }
    let timeout = request.answerTimeout
    do {
      try startThread(named: "annotation") { [board, session, delivery, wake] in
        let isDelivered = StreamAnnotation.set(
          name, of: stream, in: board.group, until: .after(timeout))
        if isDelivered {
          // If that cannot be written, the name is passed on again, which changes nothing.
          _ = try? board.change(session) { record in
            if record.undeliveredApplication == name.text { record.undeliveredApplication = "" }
          }
        }
        // Another name may have come meanwhile, or a publisher.
        if delivery.end() { wake.raise() }
      }
    } catch { _ = delivery.end() }
  }

  /// Whether a name is on its way to the publisher.
  final class Delivery: Sendable {
    private let state = Mutex(State())
    private struct State {
      var isUnderWay = false
      var isAskedAgain = false
    }

    /// - Returns: false while one is on its way.
    func begin() -> Bool {
      state.withLock { state in
        guard state.isUnderWay else {
          state = State(isUnderWay: true)
          return true
        }
        state.isAskedAgain = true
        return false
      }
    }

    /// - Returns: whether another was to begin meanwhile.
    func end() -> Bool {
      state.withLock { state in
        defer { state = State() }
        return state.isAskedAgain
      }
    }
  }
}
