import CFrameBus
import Platform
import SharedDefaults
import Synchronization

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

/// The keys that changed and were not taken yet. Each is in it once, so a process that takes none
/// collects no more than the suite has had keys.
final class ChangedKeys: Sendable {
  private let keys = Mutex<[String]>([])
  /// Readable while there are keys.
  let event: EventCounter

  init() throws(CFailure) { event = try SystemError.converted(try EventCounter()) }

  func add(_ key: String) {
    keys.withLock {
      if !$0.contains(key) { $0.append(key) }
      event.raise()
    }
  }

  /// Takes the first key, if it is short enough.
  func take(atMost byteCount: Int) throws(CFailure) -> String? {
    try keys.withLock { keys throws(CFailure) in
      guard let key = keys.first else { return nil }
      guard key.utf8.count <= byteCount else {
        throw CFailure(
          FRAMEBUS_ERROR_LIMIT,
          "the key has \(key.utf8.count) bytes; pass FRAMEBUS_MAXIMUM_KEY_BYTES + 1")
      }
      keys.removeFirst()
      if keys.isEmpty { event.lower() }
      return key
    }
  }
}

final class SettingsObservationBox: Handled {
  static let kind = HandleKind.settingsObservation
  let changes: ChangedKeys
  /// Keeps the observation, and the suite with it.
  private let observation: DefaultsObservation

  init(_ observation: DefaultsObservation, _ changes: ChangedKeys) {
    self.observation = observation
    self.changes = changes
  }

  func cancel() { observation.cancel() }
}

@c @implementation
public func framebus_settings_observe(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ observation: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    try unsafe require(observation)
    let key = try unsafe optionalText(key, "key")
    let changes = try ChangedKeys()
    let made = try DefaultsError.converted(
      try box.settings.observe(key) { changes.add($0.key) })
    try unsafe set(observation, SettingsObservationBox(made, changes))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_observation_close(_ observation: OpaquePointer!) -> Int32 {
  attempt { () throws(CFailure) in
    try unsafe HandleTable.shared.remove(observation, SettingsObservationBox.self).cancel()
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_observation_descriptor(_ observation: OpaquePointer!) -> Int32 {
  unsafe using(observation, SettingsObservationBox.self) { box throws(CFailure) in
    Int(box.changes.event.number)
  }
}

@c @implementation
public func framebus_settings_observation_next(
  _ observation: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ key: UnsafeMutablePointer<CChar>!, _ capacity: Int,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(observation, SettingsObservationBox.self, error) { box throws(CFailure) in
    let stop = try unsafe stopSignal(stop)
    guard let key = unsafe key, capacity > 0 else {
      throw .argument("key is NULL or capacity 0; pass a buffer of FRAMEBUS_MAXIMUM_KEY_BYTES + 1")
    }
    let deadline = Deadline(monotonicNs: deadline_ns)
    while true {
      if let changed = try box.changes.take(atMost: capacity - 1) {
        unsafe UnsafeMutableRawBufferPointer(start: key, count: capacity).copyText(changed)
        return FRAMEBUS_OK
      }
      if stop?.isRaised == true { return FRAMEBUS_STOPPED }
      if deadline.isPast { return FRAMEBUS_TIMED_OUT }
      _ = Platform.poll(box.changes.event.number, stop?.descriptorNumber, until: deadline)
    }
  }
}
