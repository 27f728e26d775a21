import Platform

extension SharedDefaults {
  /// Sets a key. What it already is, is not written again.
  /// - Throws: ``DefaultsError/secret(key:sealWith:)`` if the key, or one within the value, names a
  ///   secret; ``DefaultsError/busy(path:holderPID:)`` if another process holds the suite's lock
  ///   for 5 seconds.
  /// - Complexity: five calls of the kernel. Now and then, when the journal has become long, a new
  ///   file is written and synced.
  public func set(_ value: some DefaultsRepresentable, forKey key: String) throws(DefaultsError) {
    try update { $0[key] = value.defaultsValue }
  }

  /// Sets a key to a value, written as a literal too: `set([1, "two"], forKey: "mixed")`.
  public func set(_ value: DefaultsValue, forKey key: String) throws(DefaultsError) {
    try update { $0[key] = value }
  }

  public func removeObject(forKey key: String) throws(DefaultsError) {
    try update { $0[key] = nil }
  }

  /// Sets a key if it is as expected now; nil stands for a key that is not set.
  /// - Returns: false, and nothing is changed, if it is something else.
  public func compareAndSet(
    _ key: String, expected: DefaultsValue?, to value: DefaultsValue?
  ) throws(DefaultsError) -> Bool {
    var isExpected = false
    try update { draft in
      let found = draft[key]
      isExpected = found.map { $0.isSame(as: expected) } ?? (expected == nil)
      if isExpected { draft[key] = value }
    }
    return isExpected
  }

  /// Changes any number of keys in one step: every process sees all of it or nothing, and nobody
  /// else changes the suite meanwhile, so what is read in the draft still holds when it is written.
  /// - Parameters:
  ///   - limit: how long to wait for others who change the suite.
  ///   - change: reads and sets keys; it must be brief, and not change this suite in another way.
  public func update(
    within limit: Duration = .seconds(5), _ change: (inout DefaultsDraft) -> Void
  ) throws(DefaultsError) {
    let deadline = Deadline.after(limit)
    try writing.withLock { _ throws(DefaultsError) in
      let file = try lockedFile(until: deadline)
      defer { file.unlock() }
      onStep?(.locked)
      guard let record = try record(of: change) else { return }
      try write(record, to: file)
    }
  }

  /// Waits until all that was set survives a power cut (`fdatasync(2)`).
  public func synchronize() throws(DefaultsError) {
    let file = state.withLock { state in
      state.view.look(place)
      return state.view.file
    }
    try file?.sync()
  }

  /// Removes the suite with all its keys, also one that cannot be read any more.
  public func removeSuite(within limit: Duration = .seconds(5)) throws(DefaultsError) {
    let deadline = Deadline.after(limit)
    try writing.withLock { _ throws(DefaultsError) in
      while true {
        // What lies there in the place of a suite, nobody can hold a lock on.
        guard let file = try? place.open(), file.isWritable else { return try place.remove() }
        try file.lock(until: deadline)
        defer { file.unlock() }
        // Another file may have taken its place meanwhile.
        guard file.isThere(try place.status()) else { continue }
        file.setRetired(true)
        onStep?(.retired)
        return try place.remove()
      }
    }
  }

  /// Puts a new file with the same values in the place of the suite's.
  func rewrite() throws(DefaultsError) {
    try writing.withLock { _ throws(DefaultsError) in
      let file = try lockedFile(until: .after(.seconds(5)))
      defer { file.unlock() }
      try replace(file, with: state.withLock { $0.view.image })
    }
  }

  // MARK: Under the lock

  /// The suite's file, made if there is none, under its lock, with all read that is in it.
  private func lockedFile(until deadline: Deadline) throws(DefaultsError) -> SuiteFile {
    while true {
      guard let file = try currentFile({ $0.update(place) }) else {
        try place.make()
        if deadline.isPast { throw .busy(path: path, holderPID: nil) }
        continue
      }
      if let refusal = file.refusal { throw DefaultsError(refusal) }
      try file.lock(until: deadline)
      do throws(DefaultsError) {
        // Another file may have taken its place meanwhile.
        if try currentFile({ $0.look(place) }) === file { return file }
      } catch {
        file.unlock()
        throw error
      }
      file.unlock()
    }
  }

  private func currentFile(_ look: (inout SuiteView) -> Void) throws(DefaultsError) -> SuiteFile? {
    let (file, trouble) = state.withLock { state in
      look(&state.view)
      return (state.view.file, state.view.trouble)
    }
    if let trouble { throw trouble }
    return file
  }

  /// What the change comes to; nil if all is as it was. Holds no copy of the values beyond its
  /// return, so that the record can be applied to them in place.
  private func record(
    of change: (inout DefaultsDraft) -> Void
  ) throws(DefaultsError) -> JournalRecord? {
    let (image, end) = state.withLock { ($0.view.image, $0.view.end) }
    var draft = DefaultsDraft(values: image.values)
    change(&draft)
    let changes = draft.changes.filter { key, value in
      value.map { !$0.isSame(as: image.values[key]) } ?? (image.values[key] != nil)
    }
    for (key, value) in changes {
      guard SuiteFormat.isKey(key) else { throw .invalidKey(key) }
      guard let value, let secret = secrets.find(in: key, value) else { continue }
      throw .secret(
        key: secret, sealWith: SecretKeys.command(for: secret, suite: name, group: group))
    }
    let newCount = changes.count { image.values[$0.key] == nil }
    let keyCount = image.values.count + newCount - changes.count { $0.value == nil }
    if keyCount > SuiteFormat.maximumKeys {
      throw .suiteTooLarge(byteCount: end, keyCount: keyCount)
    }
    return changes.isEmpty ? nil : JournalRecord(sequence: image.sequence + 1, changes: changes)
  }

  private func write(_ record: JournalRecord, to file: SuiteFile) throws(DefaultsError) {
    let bytes = record.bytes
    // What nobody could read is not written.
    if JournalRecord.parse(bytes[...]) == nil {
      throw .invalidValue(key: record.changes.keys.sorted().joined(separator: ", "))
    }
    let (end, byteCount, needsReplacing) = state.withLock { state in
      let view = state.view
      return (view.end, view.byteCount, view.needsReplacing(forRecordOf: bytes.count))
    }
    if needsReplacing {
      var image = state.withLock { $0.view.image }
      _ = image.apply(record)
      return try replace(file, with: image)
    }
    if byteCount > end { try file.cut(to: end) }
    try file.write(bytes, at: end)
    onStep?(.recordWritten)
    file.moveEnd(to: end + bytes.count)
    onStep?(.extentMoved)
    if file.isLost { throw .damaged(path: path, why: "it was truncated while in use") }
    state.withLock { $0.view.append(record, byteCount: bytes.count) }
    // The change counts; observers who are not rung for look by themselves, a little later.
    try? file.ring(record.sequence)
    onStep?(.rung)
  }

  private func replace(_ file: SuiteFile, with image: SuiteImage) throws(DefaultsError) {
    let bytes = try image.fileBytes()
    file.setRetired(true)
    onStep?(.retired)
    do throws(DefaultsError) {
      try place.replace(with: bytes)
    } catch {
      // What is in place stays the suite, whether or not a power cut would leave it so.
      if case .system(let cause) = error, cause.followsChange {
        state.withLock { $0.view.look(place) }
      } else {
        file.setRetired(false)
      }
      throw error
    }
    onStep?(.replaced)
    state.withLock { $0.view.look(place) }
  }
}

/// The keys of a suite while they are being changed.
public struct DefaultsDraft {
  private let values: [String: DefaultsValue]
  private(set) var changes: [String: DefaultsValue?] = [:]

  init(values: [String: DefaultsValue]) { self.values = values }

  /// What the key will be; nil if it will not be set.
  public subscript(key: String) -> DefaultsValue? {
    get { changes[key] ?? values[key] }
    set { changes.updateValue(newValue, forKey: key) }
  }

  /// The keys that will be set.
  public var keys: Set<String> {
    var keys = Set(values.keys)
    for (key, value) in changes {
      if value == nil { keys.remove(key) } else { keys.insert(key) }
    }
    return keys
  }
}
