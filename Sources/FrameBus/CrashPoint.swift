#if CrashPoints
  import Platform
  import Synchronization
#endif

/// The moments at which a process of the bus may die and the others must go on: one after every
/// store that others see, named for what has just been done.
///
/// In a build with the package trait `CrashPoints` the variable `FRAMEBUS_CRASH=POINT:PASS` has a
/// process killed by SIGKILL as it passes a point for that time; tests go through all of them.
/// `FRAMEBUS_DAWDLE=POINT` has it dawdle there now and then, so that what is rare happens. In every
/// other build a point is no code at all.
package enum CrashPoint: String, CaseIterable, Sendable {
  // A record is copied word by word; this is between any two of them.
  case recordWord

  // The publisher's beginning.
  case headerWritten, poolMade, poolShown, stateLive
  case lockTaken, socketBound
  // Its formats.
  case formatWritten, formatShown
  // Loan and publish.
  case loaned, descriptorInvalid, descriptorWritten, sequenceShown, bytesCounted
  case cursorMoved, wakeBumped, wakeUpCounted, sleepersWoken, bellsRung, abandonCounted
  // Waiting for lossless subscribers.
  case waitShown, waitEnded, losslessEndShown, losslessEndCounted
  // Its control plane: who comes, who goes, and what they are sent.
  case pageSent, positionPreset, placeShown, placeListed, welcomeSent, placeSeated
  case poolSent, retentionShown, rejectionCounted, placeLeft, placeFreed
  case evictionShown, placeEvicted, evictionCounted
  // Whether it is live, paused or at its end.
  case reasonWritten, stateShown

  // The subscriber's arrival.
  case helloSent, pageMapped, welcomed, seated, waitKindShown, policyShown
  // Pin and release.
  case holdTaken, holdWithdrawn, released
  // What it tells of itself.
  case advanced, receivedShown, droppedShown, dropsShown, progressBumped, publisherWoken
  case latencyCounted
  case utilizationShown, rateNumeratorShown, rateDenominatorShown
  case waitingShown, sleepEnded
  // New memory, and a publisher that went.
  case poolMapped, poolAcknowledged, detached
}

/// Passes a point: dies there if that is what this process was started for.
@inline(__always)
func crashPoint(_ point: CrashPoint) {
  #if CrashPoints
    CrashPlan.own.pass(point)
  #endif
}

/// Whether this build has crash points.
package var crashPointsAreCompiled: Bool {
  #if CrashPoints
    true
  #else
    false
  #endif
}

#if CrashPoints
  /// What the environment asks of this process: where to die, and where to dawdle.
  package final class CrashPlan: Sendable {
    package static let own = CrashPlan()

    private let target: CrashPoint?
    private let lastPass: Int
    private let dawdling: CrashPoint?
    private let counts = Mutex<[CrashPoint: Int]>([:])

    private init() {
      let text = environmentValue("FRAMEBUS_CRASH") ?? ""
      let parts = text.split(separator: ":")
      target = parts.first.flatMap { CrashPoint(rawValue: String($0)) }
      lastPass = parts.last.flatMap { Int($0) } ?? 1
      precondition(text.isEmpty || target != nil, "FRAMEBUS_CRASH names no point: \(text)")
      dawdling = environmentValue("FRAMEBUS_DAWDLE").flatMap { CrashPoint(rawValue: $0) }
    }

    func pass(_ point: CrashPoint) {
      let passes = counts.withLock { counts in
        counts[point, default: 0] += 1
        return counts[point, default: 0]
      }
      if point == target, passes == lastPass { killOwnProcess() }
      if point == dawdling, passes.isMultiple(of: 16) { sleep(until: .after(.milliseconds(2))) }
    }

    /// How often each point was passed so far.
    package var passes: [CrashPoint: Int] { counts.withLock { $0 } }
  }
#endif
