import Platform
import Synchronization

/// A change of a key's value.
public struct DefaultsChange: Hashable, Sendable {
  /// The observed key.
  public let key: String
  /// The new value; nil if the key is no longer set or registered.
  public let value: DefaultsValue?
}

/// An observer's registration. Releasing the last reference cancels it.
public final class DefaultsObservation: Sendable {
  private let core: ObservationCore

  init(_ core: ObservationCore) { self.core = core }

  /// Ends the observation and blocks until its closure is not running. The closure is never called
  /// again. A call from the closure itself does not wait.
  public func cancel() {
    core.end()
    // All closures run on the loop's thread, so a closure in progress ends before this returns.
    if let loop = try? ObserverSet.loop() { loop.performAndWait {} }
  }

  deinit { core.end() }
}

/// One observer, with the values that it was last notified of.
final class ObservationCore: Sendable {
  let suite: SharedDefaults
  /// Nil for every key.
  private let key: String?
  private let handler: @Sendable (DefaultsChange) -> Void
  /// The values of the last notifications. Only the loop's thread changes them, so that no change
  /// is reported twice.
  private let reported: Mutex<[String: DefaultsValue]>
  private let isEnded = Atomic<Bool>(false)

  init(
    _ suite: SharedDefaults, _ key: String?, reported: [String: DefaultsValue],
    _ handler: @escaping @Sendable (DefaultsChange) -> Void
  ) {
    self.suite = suite
    self.key = key
    self.reported = Mutex(reported)
    self.handler = handler
  }

  /// Reports values that differ from the last ones reported. Runs only on the loop's thread.
  func poll() {
    for change in changes() {
      // SYNC observation-end: acquiring side.
      if isEnded.load(ordering: .acquiring) { return }
      handler(change)
    }
  }

  private func changes() -> [DefaultsChange] {
    if let key {
      let value = suite.value(forKey: key)
      return reported.withLock { $0.replace(key, with: value) }.map { [$0] } ?? []
    }
    let values = suite.dictionaryRepresentation()
    return reported.withLock { reported in
      if reported == values { return [] }
      let keys = Set(reported.keys).union(values.keys).sorted()
      return keys.compactMap { reported.replace($0, with: values[$0]) }
    }
  }

  func end() {
    // SYNC observation-end: release side.
    isEnded.store(true, ordering: .releasing)
    suite.observers.remove(self)
  }
}

extension [String: DefaultsValue] {
  /// Replaces a key's value.
  /// - Returns: nil if the value is the same.
  fileprivate mutating func replace(_ key: String, with value: DefaultsValue?) -> DefaultsChange? {
    if let value {
      if value.isSame(as: self[key]) { return nil }
    } else if self[key] == nil {
      return nil
    }
    self[key] = value
    return DefaultsChange(key: key, value: value)
  }
}

extension SharedDefaults {
  /// Calls a closure when the value of one key, or of any key, changes, whichever process changes
  /// it. Changes that come faster than the closure returns are merged into one call with the latest
  /// value, so the closure always receives the final value.
  ///
  /// All closures of the process share one thread, so a slow closure delays the others. A closure
  /// may read, set, observe and cancel.
  /// - Parameters:
  ///   - key: nil for every key.
  ///   - startingWithCurrent: whether to call the closure for the present values first.
  public func observe(
    _ key: String? = nil, startingWithCurrent: Bool = false,
    _ handler: @escaping @Sendable (DefaultsChange) -> Void
  ) throws(DefaultsError) -> DefaultsObservation {
    let values = startingWithCurrent ? [:] : dictionaryRepresentation()
    let core = ObservationCore(self, key, reported: values, handler)
    try DefaultsError.attempt(observers.add(core, of: self))
    return DefaultsObservation(core)
  }

  /// The values of a key as an asynchronous sequence: first the present value, then each new one.
  /// Of values that arrive while the task is busy, only the latest is kept. Nil means that the key
  /// has no value.
  public func values(forKey key: String) throws(DefaultsError) -> AsyncStream<DefaultsValue?> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: DefaultsValue?.self, bufferingPolicy: .bufferingNewest(1))
    let current = value(forKey: key)
    continuation.yield(current)
    let reported = current.map { [key: $0] } ?? [:]
    let core = ObservationCore(self, key, reported: reported) { continuation.yield($0.value) }
    try DefaultsError.attempt(observers.add(core, of: self))
    continuation.onTermination = { _ in core.end() }
    return stream
  }
}
