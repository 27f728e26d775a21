import Platform
import SharedLog

/// The sound captures of one session, kept running beside the picture capture. A broadcast
/// continues without sound, so the end of a sound capture does not end it.
struct SoundCaptures {
  private var keepers: [SampleBufferType: RoleKeeper] = [:]
  private let log: SharedLog

  private static let label = "broadcast.host"
  /// A sound server may become available at any time, so restarts have no limit.
  private static let policy = RestartPolicy(
    maximumInARow: .max, firstDelay: .milliseconds(200), longestDelay: .seconds(20))

  /// - Parameters:
  ///   - types: the kinds to capture.
  ///   - found: running captures of an earlier host.
  init(
    of types: [SampleBufferType], adopting found: [SampleBufferType: PeerProcess], _ log: SharedLog
  ) {
    self.log = log
    for type in Set(types).union(found.keys) {
      keepers[type] = RoleKeeper(.capture, Self.policy, adopting: found[type])
    }
  }

  var processes: [RoleProcess] { keepers.values.compactMap(\.process) }

  /// When the next capture is due to start.
  var startsAt: Deadline { keepers.values.map(\.startsAt).min() ?? .never }

  /// Starts captures that are due. One that cannot start is retried; the broadcast continues.
  mutating func startDueCaptures(by starter: RoleStarter) {
    for (type, keeper) in keepers where keeper.isDue {
      let started: RoleProcess?
      do throws(BroadcastError) {
        started = try starter.startSoundCapture(of: type)
      } catch {
        let delay = keepers[type]?.planRestartOfFailedStart()
        log.append(
          .warning, "the capture of \(type.rawValue) cannot be started: \(error)",
          label: Self.label, metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
        continue
      }
      guard let process = started else {
        keepers[type] = nil
        continue
      }
      keepers[type]?.began(process)
      let text = "started the capture of \(type.rawValue), process \(process.pid)"
      log.append(keeper.isRestart ? .debug : .info, text, label: Self.label)
    }
  }

  mutating func handleExits() {
    for type in keepers.keys {
      guard let end = keepers[type]?.takeEnd() else { continue }
      // The source ended, such as a tone of limited length.
      if end.status?.isSuccess == true { keepers[type] = nil }
      let delay = keepers[type]?.planRestart()
      log.append(
        .warning, "the capture of \(type.rawValue) \(end.description)", label: Self.label,
        metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    }
  }

  mutating func stopRestarting() {
    for type in keepers.keys { keepers[type]?.stopRestarting() }
  }
}
