import Platform
import Synchronization

/// A key that has another value now.
public struct DefaultsChange: Hashable, Sendable {
  public let key: String
  /// Nil if it is neither set nor registered any more.
  public let value: DefaultsValue?
}

/// An observer's registration. When the last reference to it goes, it is cancelled.
public final class DefaultsObservation: Sendable {
  private let core: ObservationCore

  init(_ core: ObservationCore) { self.core = core }

  /// Ends the observation. When this returns, its closure is not running, unless this was called
  /// from it, and is never called again.
  public func cancel() {
    core.end()
    // The one thread that calls closures has gone on when it has done this.
    if let loop = try? ObserverSet.loop() { loop.performAndWait {} }
  }

  deinit { core.end() }
}

/// What was told to one observer, and what is to be told next.
final class ObservationCore: Sendable {
  private let suite: SharedDefaults
  /// Nil for every key.
  private let key: String?
  private let handler: @Sendable (DefaultsChange) -> Void
  /// What was told last. Only the loop's thread changes it, so nothing is told twice.
  private let told: Mutex<[String: DefaultsValue]>
  private let isEnded = Atomic<Bool>(false)

  init(
    _ suite: SharedDefaults, _ key: String?, told: [String: DefaultsValue],
    _ handler: @escaping @Sendable (DefaultsChange) -> Void
  ) {
    self.suite = suite
    self.key = key
    self.told = Mutex(told)
    self.handler = handler
  }

  /// Tells what is different from what was told. On the loop's thread alone.
  func look() {
    for change in changes() {
      // SYNC observation-end: acquiring side.
      if isEnded.load(ordering: .acquiring) { return }
      handler(change)
    }
  }

  private func changes() -> [DefaultsChange] {
    if let key {
      let value = suite.value(forKey: key)
      return told.withLock { $0.replace(key, with: value) }.map { [$0] } ?? []
    }
    let values = suite.dictionaryRepresentation()
    return told.withLock { told in
      if told == values { return [] }
      let keys = Set(told.keys).union(values.keys).sorted()
      return keys.compactMap { told.replace($0, with: values[$0]) }
    }
  }

  func end() {
    // SYNC observation-end: release side.
    isEnded.store(true, ordering: .releasing)
    suite.observers.remove(self)
  }
}

extension [String: DefaultsValue] {
  /// Puts a value in the place of another.
  /// - Returns: nil if they are the same.
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
  /// Calls a closure whenever a key, or any key, has another value than it was told of last,
  /// whichever process set it. Changes that come faster than the closure returns are told as one,
  /// with the latest value: none that lasts is lost.
  ///
  /// All closures of the process share a thread, so one that takes long keeps the others waiting.
  /// A closure may read, set, observe and cancel.
  /// - Parameters:
  ///   - key: nil for every key.
  ///   - startingWithCurrent: whether to tell of the values that are there already.
  public func observe(
    _ key: String? = nil, startingWithCurrent: Bool = false,
    _ handler: @escaping @Sendable (DefaultsChange) -> Void
  ) throws(DefaultsError) -> DefaultsObservation {
    let values = startingWithCurrent ? [:] : dictionaryRepresentation()
    let core = ObservationCore(self, key, told: values, handler)
    try attempt { () throws(SystemError) in try observers.add(core, of: self) }
    return DefaultsObservation(core)
  }

  /// The values of a key, for a task to iterate: first the one that it has, then each that it gets,
  /// or the latest of those that came while the task was busy. Nil stands for a key that has none.
  public func values(forKey key: String) throws(DefaultsError) -> AsyncStream<DefaultsValue?> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: DefaultsValue?.self, bufferingPolicy: .bufferingNewest(1))
    let current = value(forKey: key)
    continuation.yield(current)
    let told = current.map { [key: $0] } ?? [:]
    let core = ObservationCore(self, key, told: told) { continuation.yield($0.value) }
    try attempt { () throws(SystemError) in try observers.add(core, of: self) }
    continuation.onTermination = { _ in core.end() }
    return stream
  }
}
