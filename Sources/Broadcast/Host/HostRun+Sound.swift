import Platform
import SharedLog

/// The sound captures of one session. A broadcast continues without sound, so the end of a sound
/// capture does not end it.
extension HostRun {
  /// A sound server may become available at any time, so restarts have no limit.
  private static let soundPolicy = RestartPolicy(
    maximumInARow: .max, firstDelay: .milliseconds(200), longestDelay: .seconds(20))

  /// - Parameters:
  ///   - types: the kinds to capture.
  ///   - found: running captures of an earlier host.
  func keepSound(
    _ types: some Sequence<SampleBufferType>, adopting found: [SampleBufferType: PeerProcess]
  ) {
    for type in Set(types).union(found.keys) {
      sound[type] = RoleKeeper(.capture, Self.soundPolicy, adopting: found[type])
    }
  }

  /// Starts captures that are due. One that cannot start is retried.
  func startDueSound(by starter: RoleStarter) {
    for (type, keeper) in sound where keeper.isDue {
      let started: RoleProcess?
      do throws(BroadcastError) {
        started = try starter.startSoundCapture(of: type)
      } catch {
        let delay = sound[type]?.planRestartOfFailedStart()
        warn("the capture of \(type.rawValue) cannot be started: \(error)", restartsIn: delay)
        continue
      }
      guard let process = started else {
        sound[type] = nil
        continue
      }
      sound[type]?.began(process)
      let text = "started the capture of \(type.rawValue), process \(process.pid)"
      log.append(keeper.isRestart ? .debug : .info, text, label: Self.label)
    }
  }

  func handleSoundExits() {
    for type in sound.keys {
      guard let end = sound[type]?.takeEnd() else { continue }
      // The source ended, such as a tone of limited length.
      if end.ending == .finished { sound[type] = nil }
      let delay = sound[type]?.planRestart()
      warn("the capture of \(type.rawValue) \(end.description)", restartsIn: delay)
    }
  }

  private func warn(_ text: String, restartsIn delay: Duration?) {
    log.append(
      .warning, text, label: Self.label,
      metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
  }
}
