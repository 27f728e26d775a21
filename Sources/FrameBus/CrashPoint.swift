#if CrashPoints
  import Platform
  import Synchronization
#endif

/// Points at which a process of the bus may die while the others must continue: one after every
/// store that other processes see, named after that store.
///
/// In a build with the package trait `CrashPoints`, `FRAMEBUS_CRASH=POINT:PASS` kills the process
/// by SIGKILL when it passes a point for the PASS-th time; tests use all points.
/// `FRAMEBUS_DAWDLE=POINT` makes it pause there now and then, to provoke rare interleavings. In
/// other builds a point compiles to nothing.
package enum CrashPoint: String, CaseIterable, Sendable {
  // Between any two words of a record, which is copied word by word.
  case recordWord

  // The publisher's start.
  case headerWritten, poolMade, poolShown, stateLive
  case lockTaken, socketBound
  // Its formats.
  case formatWritten, formatShown
  // Loan and publish.
  case loaned, descriptorInvalid, descriptorWritten, sequenceShown, bytesCounted, plainShown
  case cursorMoved, wakeBumped, wakeUpCounted, sleepersWoken, bellsRung, abandonCounted
  // Waiting for lossless subscribers.
  case waitShown, waitEnded, losslessEndShown, losslessEndCounted
  // Its control plane: arrivals, departures, and messages.
  case pageSent, positionPreset, seatShown, seatListed, welcomeSent, seatConfirmed
  case poolSent, retentionShown, rejectionCounted, seatLeft, seatFreed
  case evictionShown, seatEvicted, evictionCounted
  // The stream state.
  case reasonWritten, stateShown

  // The subscriber's arrival.
  case helloSent, pageMapped, welcomed, seated, waitKindShown, policyShown
  // Pin and release.
  case holdTaken, holdWithdrawn, released
  // Its progress and statistics.
  case advanced, receivedShown, droppedShown, dropsShown, progressBumped, publisherWoken
  case latencyCounted
  case utilizationShown, rateNumeratorShown, rateDenominatorShown, demandShown
  case waitingShown, sleepEnded
  // New pools, and the publisher's death.
  case poolMapped, poolAcknowledged, detached
}

/// Passes a point, and dies there if the environment requests it.
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
  /// The environment's instructions for this process: where to die, and where to pause.
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
      precondition(text.isEmpty || target != nil, "FRAMEBUS_CRASH has an unknown point: \(text)")
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

    /// How often each point has been passed.
    package var passes: [CrashPoint: Int] { counts.withLock { $0 } }
  }
#endif
