import AppGroup
import NotifyCenter
import Platform
import SharedDefaults
import Sound
import Upload

/// The record of a group's broadcast, and the notification of its changes.
///
/// The record is authoritative. A writer sets the notification's state after it has changed the
/// record, and repeats that until the state matches the newest record, whichever writer is last.
final class SessionBoard: Sendable {
  let group: AppGroup
  private let suite: SharedDefaults
  private let center: NotifyCenter
  private let stateName: NotificationName

  init(_ group: AppGroup, as role: Role) throws(BroadcastError) {
    self.group = group
    do throws(DefaultsError) {
      suite = try SharedDefaults(suiteName: BroadcastNames.suite, in: group)
    } catch { throw .settings(error) }
    do throws(NotifyError) {
      center = try NotifyCenter(group, role: role, isSystem: true)
      stateName = try NotificationName(BroadcastNames.state)
    } catch { throw .notifications(error) }
  }

  /// The current record; nil if the group has none.
  func read() throws(BroadcastError) -> BroadcastRecord? {
    do throws(DefaultsError) {
      try suite.refresh()
    } catch { throw .settings(error) }
    return BroadcastRecord(suite[BroadcastNames.recordKey])
  }

  /// Changes the record atomically and notifies observers.
  /// - Returns: the record after the change.
  /// - Throws: ``BroadcastError/textTooLong(maximumBytes:)`` for a record that would read back as
  ///   another one, or none. It is not written, because that could end the session.
  @discardableResult
  func change(
    _ body: (inout BroadcastRecord?) -> Void
  ) throws(BroadcastError) -> BroadcastRecord? {
    try update { record, _ in body(&record) }
  }

  /// Changes the record and other settings of its suite in one step.
  private func update(
    _ body: (inout BroadcastRecord?, inout DefaultsDraft) -> Void
  ) throws(BroadcastError) -> BroadcastRecord? {
    var result: BroadcastRecord?
    var events: [String] = []
    var isChanged = false
    var isRefused = false
    do throws(DefaultsError) {
      try suite.update { draft in
        let before = BroadcastRecord(draft[BroadcastNames.recordKey])
        var record = before
        var changed = draft
        body(&record, &changed)
        result = record
        let value = record?.value
        isRefused = record != nil && BroadcastRecord(value) != record
        if isRefused { return }
        draft = changed
        isChanged = record != before
        if isChanged { draft[BroadcastNames.recordKey] = value }
        events = isChanged ? BroadcastNames.events(from: before, to: record) : []
      }
    } catch { throw .settings(error) }
    if isRefused { throw .textTooLong(maximumBytes: BroadcastRecord.maximumTextBytes) }
    if isChanged { try announce() }
    // The state says the same, so a group whose manifest forbids these names misses nothing.
    for name in events { _ = try? center.post(NotificationName(name)) }
    return result
  }

  /// Changes the record if it is still that of the given session.
  /// - Returns: the record after the change; nil if it is another session's.
  @discardableResult
  func change(
    _ session: SessionID, _ body: (inout BroadcastRecord) -> Void
  ) throws(BroadcastError) -> BroadcastRecord? {
    let record = try change { record in
      guard var mine = record, mine.session == session else { return }
      body(&mine)
      record = mine
    }
    return record?.session == session ? record : nil
  }

  /// Records a new session and switches sound as it requests, until ``restoreSound()``.
  func begin(_ record: BroadcastRecord, _ sound: SoundSwitch) throws(BroadcastError) {
    _ = try update { present, draft in
      var record = record
      var before: [String: Bool] = [:]
      for key in SoundSwitch.keys {
        if case .bool(let isOn)? = draft[key] { before[key] = isOn }
      }
      record.soundBefore = before
      present = record
      sound.set(in: &draft)
    }
  }

  /// Switches sound as before the session, if that has ended. Call it when the session's captures
  /// have exited: a microphone that was off for them must not be on.
  func restoreSound() throws(BroadcastError) {
    _ = try update { record, draft in
      guard record?.phase == .finished, let before = record?.soundBefore else { return }
      for key in SoundSwitch.keys { draft[key] = before[key].map { .bool($0) } }
      record?.soundBefore = nil
    }
  }

  /// Replaces the figures of the destinations. No notification follows.
  func setDestinations(_ list: DestinationList) throws(BroadcastError) {
    do throws(DefaultsError) {
      try suite.set(list.value, forKey: BroadcastNames.destinationsKey)
    } catch { throw .settings(error) }
  }

  /// The figures that the session's extension has reported, after a `read()`.
  func destinations(of session: SessionID) -> [DestinationFigures] {
    let list = DestinationList(suite[BroadcastNames.destinationsKey])
    return list.flatMap { $0.session == session ? $0.figures : nil } ?? []
  }

  /// The kinds of sound that are on.
  func sound() throws(BroadcastError) -> SoundSwitch {
    do throws(DefaultsError) {
      try suite.refresh()
    } catch { throw .settings(error) }
    return SoundSwitch(in: suite)
  }

  func setSound(_ sound: SoundSwitch) throws(BroadcastError) {
    do throws(DefaultsError) { try sound.set(in: suite) } catch { throw .settings(error) }
  }

  /// - Parameters: nil keeps a value.
  func setSound(app: Bool?, mic: Bool?) throws(BroadcastError) {
    do throws(DefaultsError) {
      try SoundSwitch.set(app: app, mic: mic, in: suite)
    } catch { throw .settings(error) }
  }

  /// Calls a closure after each change, on a thread that all observers of the process share.
  func observe(_ changed: @escaping @Sendable () -> Void) throws(BroadcastError) -> Observation {
    do throws(NotifyError) {
      return try center.observe(stateName) { _ in changed() }
    } catch { throw .notifications(error) }
  }

  private func announce() throws(BroadcastError) {
    do throws(NotifyError) {
      var announced: BroadcastRecord?
      repeat {
        announced = BroadcastRecord(suite[BroadcastNames.recordKey])
        try center.setState(StateWord(announced).rawValue, of: stateName)
      } while announced != BroadcastRecord(suite[BroadcastNames.recordKey])
      try center.post(stateName)
    } catch { throw .notifications(error) }
  }
}

extension BroadcastNames {
  /// The notifications of a change of the record, in order. One process makes a change, so each is
  /// posted once. A pause that lasts until the end is over with `finished`.
  static func events(from before: BroadcastRecord?, to after: BroadcastRecord?) -> [String] {
    let (wasActive, isActive) = (before?.phase.isActive == true, after?.phase.isActive == true)
    let (wasPaused, isPaused) = (before?.phase == .paused, after?.phase == .paused)
    if wasActive, isActive, before?.session == after?.session {
      return wasPaused == isPaused ? [] : isPaused ? [paused] : [resumed]
    }
    // A broadcast whose processes all died ends with the next start.
    return (wasActive ? [finished] : []) + (isActive ? [started] : []) + (isPaused ? [paused] : [])
  }
}
