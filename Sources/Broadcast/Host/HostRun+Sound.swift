import Platform
import SharedLog

/// Why sound is not captured, and when the running attempt counts as successful.
struct MissingSound {
  let why: String
  var isBackAt = Deadline.never
}

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
    for (type, why) in record.missingSound {
      let isRunning = sound[type]?.process != nil
      missingSound[type] = MissingSound(
        why: why, isBackAt: isRunning ? .after(Self.soundPolicy.resetAfter) : .never)
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
      missingSound[type]?.isBackAt = .after(Self.soundPolicy.resetAfter)
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
    let why = String(decoding: why.utf8.prefix(Self.maximumReasonBytes), as: UTF8.self).plain
    // The newest reason, which is another one after the server was started without a device, say.
    missingSound[type] = MissingSound(why: why)
    do throws(BroadcastError) {
      let record = try board.change(session) { $0.missingSound[type] = why }
      if let record { report(record) }
    } catch { if isNew { onEvent(.soundLost(type, why: why)) } }
  }

  /// Reports sound whose capture has run for a while, unless the capture has reported itself that
  /// there is none.
  func noteSoundThatIsBack() {
    for (type, missing) in missingSound where missing.isBackAt.isPast {
      guard sound[type]?.process != nil else { continue }
      missingSound[type] = nil
      do throws(BroadcastError) {
        let record = try board.change(session) { record in
          if record.missingSound[type] == missing.why { record.missingSound[type] = nil }
        }
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
