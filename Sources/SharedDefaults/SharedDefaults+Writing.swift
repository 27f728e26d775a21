import Platform

extension SharedDefaults {
  /// Sets a key. An unchanged value is not written again.
  /// - Throws: ``DefaultsError/secret(key:sealWith:)`` if the key, or one within the value, names a
  ///   secret; ``DefaultsError/busy(path:holderPID:)`` if another process holds the suite's lock
  ///   for 5 seconds.
  /// - Complexity: five system calls. When the journal has become long, a new file is written and
  ///   synced instead.
  public func set(_ value: some DefaultsRepresentable, forKey key: String) throws(DefaultsError) {
    try update { $0[key] = value.defaultsValue }
  }

  /// Sets a key to a value, which can be a literal: `set([1, "two"], forKey: "mixed")`.
  public func set(_ value: DefaultsValue, forKey key: String) throws(DefaultsError) {
    try update { $0[key] = value }
  }

  /// Removes a key; nothing happens if it has no value.
  public func removeObject(forKey key: String) throws(DefaultsError) {
    try update { $0[key] = nil }
  }

  /// Sets a key if its present value is the expected one. Nil means that the key is not set.
  /// - Returns: false if the value differs; nothing is then changed.
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

  /// Changes any number of keys in one step. Every process sees all of the changes or none. No
  /// other process changes the suite meanwhile, so values read from the draft are still current
  /// when it is written.
  /// - Parameters:
  ///   - limit: how long to wait for other processes that change the suite.
  ///   - change: reads and sets keys. It must be brief, and must not change this suite otherwise.
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

  /// Blocks until all changes so far are durable (`fdatasync(2)`).
  public func synchronize() throws(DefaultsError) {
    let file = state.withLock { state in
      state.view.poll(location)
      return state.view.file
    }
    try file?.sync()
  }

  /// Removes the suite and all its keys, even if the suite is unreadable.
  public func removeSuite(within limit: Duration = .seconds(5)) throws(DefaultsError) {
    let deadline = Deadline.after(limit)
    try writing.withLock { _ throws(DefaultsError) in
      while true {
        // An entry that is not a usable suite file cannot be locked by anyone.
        guard let file = try? location.open(), file.isWritable else { return try location.remove() }
        try file.lock(until: deadline)
        defer { file.unlock() }
        // Another file may have replaced it meanwhile.
        guard file.isThere(try location.status()) else { continue }
        file.setRetired(true)
        onStep?(.retired)
        return try location.remove()
      }
    }
  }

  /// Replaces the suite's file by a new one with the same values.
  func rewrite() throws(DefaultsError) {
    try writing.withLock { _ throws(DefaultsError) in
      let file = try lockedFile(until: .after(.seconds(5)))
      defer { file.unlock() }
      try replace(file, with: state.withLock { $0.view.image })
    }
  }

  // MARK: Under the lock

  /// Locks the suite's file and reads it to its end. Creates the file if it is missing.
  private func lockedFile(until deadline: Deadline) throws(DefaultsError) -> SuiteFile {
    while true {
      guard let file = try currentFile({ $0.update(location) }) else {
        try location.make()
        if deadline.isPast { throw .busy(path: path, holderPID: nil) }
        continue
      }
      if let refusal = file.refusal { throw DefaultsError(refusal) }
      try file.lock(until: deadline)
      do throws(DefaultsError) {
        // Another file may have replaced it meanwhile.
        if try currentFile({ $0.poll(location) }) === file { return file }
      } catch {
        file.unlock()
        throw error
      }
      file.unlock()
    }
  }

  private func currentFile(_ poll: (inout SuiteView) -> Void) throws(DefaultsError) -> SuiteFile? {
    let (file, trouble) = state.withLock { state in
      poll(&state.view)
      return (state.view.file, state.view.trouble)
    }
    if let trouble { throw trouble }
    return file
  }

  /// The record of the change; nil if no value changes. Keeps no copy of the values after it
  /// returns, so that the record can be applied to them in place.
  private func record(
    of change: (inout DefaultsDraft) -> Void
  ) throws(DefaultsError) -> JournalRecord? {
    let (image, end, plainKeys) = state.withLock {
      ($0.view.image, $0.view.end, $0.plainKeys)
    }
    var draft = DefaultsDraft(values: image.values)
    change(&draft)
    let changes = draft.changes.filter { key, value in
      value.map { !$0.isSame(as: image.values[key]) } ?? (image.values[key] != nil)
    }
    for (key, value) in changes {
      guard SuiteFormat.isKey(key) else { throw .invalidKey(key) }
      guard let value, !value.hasFixedSize || !plainKeys.contains(key) else { continue }
      if let secret = secrets.find(in: key, value) {
        throw .secret(
          key: secret, sealWith: SecretKeys.command(for: secret, suite: name, group: group))
      }
      state.withLock { state in
        if state.plainKeys.count < Self.maximumPlainKeys { state.plainKeys.insert(key) }
      }
    }
    let newCount = changes.count { image.values[$0.key] == nil }
    let keyCount = image.values.count + newCount - changes.count { $0.value == nil }
    if keyCount > SuiteFormat.maximumKeys {
      throw .suiteTooLarge(byteCount: end, keyCount: keyCount)
    }
    return changes.isEmpty ? nil : JournalRecord(sequence: image.sequence + 1, changes: changes)
  }

  private static let maximumPlainKeys = 256

  private func write(_ record: JournalRecord, to file: SuiteFile) throws(DefaultsError) {
    let bytes = record.bytes
    // A record that no reader would accept is not written.
    if !record.isSimple, JournalRecord.parse(bytes[...]) == nil {
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
    // The change is effective even if this fails; observers then poll for it a little later.
    try? file.ring(record.sequence)
    onStep?(.rung)
  }

  private func replace(_ file: SuiteFile, with image: SuiteImage) throws(DefaultsError) {
    let bytes = try image.fileBytes()
    file.setRetired(true)
    onStep?(.retired)
    do throws(DefaultsError) {
      try location.replace(with: bytes)
    } catch {
      // After the rename the new file is the suite, even if a power cut might undo the rename.
      if case .system(let cause) = error, cause.followsChange {
        state.withLock { $0.view.poll(location) }
      } else {
        file.setRetired(false)
      }
      throw error
    }
    onStep?(.replaced)
    state.withLock { $0.view.poll(location) }
  }
}

/// The keys of a suite during a change.
public struct DefaultsDraft {
  private let values: [String: DefaultsValue]
  private(set) var changes: [String: DefaultsValue?] = [:]

  init(values: [String: DefaultsValue]) { self.values = values }

  /// The key's value after the change; nil if it will not be set.
  public subscript(key: String) -> DefaultsValue? {
    get { changes[key] ?? values[key] }
    set { changes.updateValue(newValue, forKey: key) }
  }

  /// The keys that will be set after the change.
  public var keys: Set<String> {
    var keys = Set(values.keys)
    for (key, value) in changes {
      if value == nil { keys.remove(key) } else { keys.insert(key) }
    }
    return keys
  }
}
