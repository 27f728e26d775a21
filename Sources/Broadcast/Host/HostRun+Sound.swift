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

  /// Takes over what an earlier host reported as missing. A capture that runs by now is not proven
  /// to work yet; one that does not run is started as any other.
  func takeMissingSound(of record: BroadcastRecord) {
    for type in record.missingSound.keys {
      let isRunning = sound[type]?.process != nil
      missingSound[type] = isRunning ? .after(Self.soundPolicy.resetAfter) : .never
    }
  }

  /// Starts captures that are due. One that cannot start is retried.
  func startDueSound(by starter: RoleStarter) {
    for (type, keeper) in sound where keeper.isDue {
      let started: RoleProcess?
      do throws(BroadcastError) {
        started = try starter.startSoundCapture(of: type, isRetry: missingSound[type] != nil)
      } catch {
        let delay = sound[type]?.planRestartOfFailedStart()
        let why = "\(error)".plain
        lost(type, "cannot be started: \(why)", why: why, restartsIn: delay)
        continue
      }
      guard let process = started else {
        sound[type] = nil
        continue
      }
      sound[type]?.began(process)
      if missingSound[type] != nil { missingSound[type] = .after(Self.soundPolicy.resetAfter) }
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
      let why = end.lastLine.isEmpty ? end.description : end.lastLine
      lost(type, end.description, why: why, restartsIn: delay)
    }
  }

  /// Reports sound that has failed once, until it is back: in the log, the record and an event.
  private func lost(
    _ type: SampleBufferType, _ what: String, why: String, restartsIn delay: Duration?
  ) {
    let isNew = missingSound[type] == nil
    log.append(
      isNew ? .warning : .debug, "the capture of \(type.rawValue) \(what)", label: Self.label,
      metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    // A source that has ended is not missing.
    if isNew, delay == nil { return }
    missingSound[type] = .never
    let why = String(decoding: why.utf8.prefix(Self.maximumReasonBytes), as: UTF8.self).plain
    // The newest reason, which is another one after the server was started without a device, say.
    _ = try? board.change(session) { $0.missingSound[type] = why }
    if isNew { onEvent(.soundLost(type, why: why)) }
  }

  /// Reports sound whose capture has run for a while.
  func noteSoundThatIsBack() {
    for (type, deadline) in missingSound where deadline.isPast && sound[type]?.process != nil {
      missingSound[type] = nil
      log.append(.notice, "\(type.rawValue) is captured again", label: Self.label)
      _ = try? board.change(session) { $0.missingSound[type] = nil }
      onEvent(.soundBack(type))
    }
  }

  /// Less than a text of the record may have: cutting a character adds bytes.
  private static let maximumReasonBytes = 400
}
