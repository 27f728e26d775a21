import Platform
import SharedLog

/// The captures of sound of one session, kept alive beside that of the pictures. A broadcast goes
/// on without sound, so none of their ends is its own.
struct SoundCaptures {
  private var keepers: [SampleBufferType: RoleKeeper] = [:]
  private let log: SharedLog

  private static let label = "broadcast.host"
  /// Whoever has no sound server may get one at any time.
  private static let policy = RestartPolicy(
    maximumInARow: .max, firstDelay: .milliseconds(200), longestDelay: .seconds(20))

  /// - Parameters:
  ///   - types: what is to be captured.
  ///   - found: the processes of an earlier host that capture it.
  init(
    of types: [SampleBufferType], adopting found: [SampleBufferType: PeerProcess], _ log: SharedLog
  ) {
    self.log = log
    for type in Set(types).union(found.keys) {
      keepers[type] = RoleKeeper(.capture, Self.policy, adopting: found[type])
    }
  }

  var processes: [RoleProcess] { keepers.values.compactMap(\.process) }

  /// When the next one is to be started.
  var startsAt: Deadline { keepers.values.map(\.startsAt).min() ?? .never }

  /// One that cannot be started is tried again: the broadcast goes on without it.
  mutating func startWhatIsDue(by starter: RoleStarter) {
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

  mutating func noticeEnds() {
    for type in keepers.keys {
      guard let end = keepers[type]?.takeEnd() else { continue }
      // A source that had no more, such as a tone that was to last for a minute.
      if end.status?.isSuccess == true { keepers[type] = nil }
      let delay = keepers[type]?.planRestart()
      log.append(
        .warning, "the capture of \(type.rawValue) \(end.description)", label: Self.label,
        metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    }
  }

  mutating func giveUp() {
    for type in keepers.keys { keepers[type]?.giveUp() }
  }
}
