import Broadcast
import Platform

/// `framebus broadcast start` as a service of systemd with Type=notify.
extension ServiceManager {
  /// Keeps the manager's watchdog quiet; nil if it has none.
  var heartbeat: Heartbeat? {
    watchdogInterval.map { Heartbeat(every: $0) { self.alive() } }
  }

  /// The service is ready when `--detach` would return.
  func note(_ event: BroadcastEvent) {
    if let line = event.line { status(line) }
    switch event {
    case .live, .resumed: ready()
    // A capture that has not published yet counts as lost.
    case .paused(let reasons) where !reasons.contains(.captureLost): ready()
    case .connecting(let failure) where !failure.isEmpty: ready()
    case .finished: stopping()
    default: break
    }
  }
}
