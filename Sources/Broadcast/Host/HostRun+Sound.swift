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
  /// to work yet; one that does not run is started as any other. Of a running one that delivers
  /// only silence, the capture itself reports the end.
  func takeMissingSound(of record: BroadcastRecord) {
    let dead = record.silentSound.filter { sound[$0.key]?.process == nil }
    if !dead.isEmpty {
      _ = try? board.change(session) { record in
        record.missingSound.merge(dead) { $1 }
        for type in dead.keys { record.silentSound[type] = nil }
      }
    }
    for type in Set(record.missingSound.keys).union(dead.keys) {
      let isRunning = sound[type]?.process != nil
      soundIsBackAt[type] = isRunning ? .after(Self.soundPolicy.resetAfter) : .never
    }
  }

  /// Starts captures that are due. One that cannot start is retried.
  func startDueSound(by starter: RoleStarter) {
    for (type, keeper) in sound where keeper.isDue {
      let started: RoleProcess?
      do throws(BroadcastError) {
        started = try starter.startSoundCapture(of: type, isRetry: soundIsBackAt[type] != nil)
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
      if soundIsBackAt[type] != nil {
        soundIsBackAt[type] = .after(Self.soundPolicy.resetAfter)
      }
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
    let isNew = soundIsBackAt[type] == nil
    log.append(
      isNew ? .warning : .debug, "the capture of \(type.rawValue) \(what)", label: Self.label,
      metadata: [LogField("restartsIn", delay.map { "\($0)" } ?? "never")])
    // A source that has ended is not missing.
    if isNew, delay == nil { return }
    soundIsBackAt[type] = .never
    let why = String(decoding: why.utf8.prefix(Self.maximumReasonBytes), as: UTF8.self).plain
    do throws(BroadcastError) {
      let record = try board.change(session) { record in
        record.silentSound[type] = nil
        // The newest reason: another one after the server was started without a device, say.
        record.missingSound[type] = why
      }
      if let record { report(record) }
    } catch { if isNew { onEvent(.soundLost(type, why: why)) } }
  }

  /// Reports sound whose capture has run for a while, unless the capture reports that it is silent.
  func noteSoundThatIsBack() {
    for (type, isBackAt) in soundIsBackAt where isBackAt.isPast {
      guard sound[type]?.process != nil else { continue }
      soundIsBackAt[type] = nil
      do throws(BroadcastError) {
        let record = try board.change(session) { $0.missingSound[type] = nil }
        if let record { report(record) }
      } catch { onEvent(.soundBack(type)) }
    }
  }

  /// Events for changes of the record, which captures make too (`SoundReport`).
  func reportSound(
    _ missing: [SampleBufferType: String], since before: [SampleBufferType: String]
  ) {
    for type in SampleBufferType.allCases {
      switch (before[type], missing[type]) {
      case (nil, let why?): onEvent(.soundLost(type, why: why.plain))
      case (_?, nil):
        log.append(.notice, "\(type.rawValue) is captured again", label: Self.label)
        onEvent(.soundBack(type))
      // Another reason is in the record alone.
      case (nil, nil), (_?, _?): break
      }
    }
  }

  /// Less than a text of the record may have: cutting a character adds bytes.
  private static let maximumReasonBytes = 400
}
