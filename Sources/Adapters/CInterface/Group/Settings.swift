import AppGroup
import CFrameBus
import Platform
import SharedDefaults
import Synchronization

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

final class SettingsBox: Handled {
  static let kind = HandleKind.settings
  let settings: SharedDefaults
  init(_ settings: SharedDefaults) { self.settings = settings }

  /// The value of the key that C passes.
  fileprivate func value(_ key: UnsafePointer<CChar>?) throws(CFailure) -> DefaultsValue {
    let key = try unsafe text(key, "key")
    if let value = settings.value(forKey: key) { return value }
    // What keeps the suite from being read is a better reason.
    _ = try DefaultsError.converted(try settings.refresh())
    throw CFailure(
      FRAMEBUS_ERROR_NOT_FOUND, "the setting \(key) is not set; set it, or use a default")
  }

  fileprivate func set(_ value: DefaultsValue, _ key: UnsafePointer<CChar>?) throws(CFailure) -> Int
  {
    let key = try unsafe text(key, "key")
    try DefaultsError.converted(try settings.set(value, forKey: key))
    return FRAMEBUS_OK
  }
}

extension DefaultsValue {
  fileprivate var type: Int {
    switch self {
    case .bool: FRAMEBUS_TYPE_BOOL
    case .integer: FRAMEBUS_TYPE_INTEGER
    case .double: FRAMEBUS_TYPE_DOUBLE
    case .string: FRAMEBUS_TYPE_TEXT
    case .data: FRAMEBUS_TYPE_BYTES
    case .date, .url, .array, .dictionary: FRAMEBUS_TYPE_OTHER
    }
  }

  fileprivate func isNot(_ wanted: String) -> CFailure {
    CFailure(
      FRAMEBUS_ERROR_TYPE,
      "the setting is not \(wanted) but of type \(type); read it as what it is")
  }
}

/// Copies bytes of a setting to C, with `padding` zero bytes behind them.
private func copy(
  _ bytes: some Collection<UInt8>, padding: Int, to buffer: UnsafeMutableRawPointer?,
  _ capacity: Int, _ length: UnsafeMutablePointer<Int>?
) throws(CFailure) -> Int {
  let count = bytes.count
  if let length = unsafe length { unsafe length.pointee = count }
  guard count + padding <= capacity, let buffer = unsafe buffer else {
    if count + padding == 0 { return FRAMEBUS_OK }
    throw CFailure(
      FRAMEBUS_ERROR_LIMIT,
      "the setting has \(count) bytes and the buffer \(capacity); pass one of \(count + padding)")
  }
  let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count + padding)
  unsafe target.copyBytes(from: bytes)
  if padding > 0 { unsafe target[count] = 0 }
  return FRAMEBUS_OK
}

@c @implementation
public func framebus_settings_open(
  _ group: OpaquePointer!, _ suite: UnsafePointer<CChar>!,
  _ settings: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(settings)
    let suite = try unsafe optionalText(suite, "suite")
    let opened = try DefaultsError.converted(
      try SharedDefaults(suiteName: suite, in: box.group))
    try unsafe CInterface.set(settings, SettingsBox(opened))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_close(_ settings: OpaquePointer!) -> Int32 {
  unsafe closeHandle(settings, SettingsBox.self)
}

// MARK: - Reading

@c @implementation
public func framebus_settings_get_type(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ type: UnsafeMutablePointer<UInt32>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let value = try unsafe box.value(key)
    try unsafe CInterface.set(type, "type", to: UInt32(value.type))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_get_bool(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: UnsafeMutablePointer<Int32>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let found = try unsafe box.value(key)
    guard case .bool(let isTrue) = found else { throw found.isNot("a boolean") }
    try unsafe CInterface.set(value, "value", to: isTrue ? 1 : 0)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_get_integer(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: UnsafeMutablePointer<Int64>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let found = try unsafe box.value(key)
    guard case .integer(let number) = found else { throw found.isNot("an integer") }
    try unsafe CInterface.set(value, "value", to: Int64(number))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_get_double(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: UnsafeMutablePointer<Double>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let found = try unsafe box.value(key)
    guard case .double(let number) = found else { throw found.isNot("a double") }
    try unsafe CInterface.set(value, "value", to: number)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_get_text(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ buffer: UnsafeMutablePointer<CChar>!,
  _ capacity: Int, _ length: UnsafeMutablePointer<Int>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let found = try unsafe box.value(key)
    guard case .string(let text) = found else { throw found.isNot("a text") }
    return try unsafe copy(
      text.utf8, padding: 1, to: UnsafeMutableRawPointer(buffer), capacity, length)
  }
}

@c @implementation
public func framebus_settings_get_bytes(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ buffer: UnsafeMutableRawPointer!,
  _ capacity: Int, _ length: UnsafeMutablePointer<Int>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let found = try unsafe box.value(key)
    guard case .data(let bytes) = found else { throw found.isNot("bytes") }
    return try unsafe copy(bytes, padding: 0, to: buffer, capacity, length)
  }
}

// MARK: - Writing

@c @implementation
public func framebus_settings_set_bool(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: Int32,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    try unsafe box.set(.bool(value != 0), key)
  }
}

@c @implementation
public func framebus_settings_set_integer(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: Int64,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    try unsafe box.set(.integer(Int(value)), key)
  }
}

@c @implementation
public func framebus_settings_set_double(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: Double,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    try unsafe box.set(.double(value), key)
  }
}

@c @implementation
public func framebus_settings_set_text(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ value: UnsafePointer<CChar>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let value = try unsafe text(value, "value")
    return try unsafe box.set(.string(value), key)
  }
}

@c @implementation
public func framebus_settings_set_bytes(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!, _ bytes: UnsafeRawPointer!,
  _ count: Int, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    guard unsafe count == 0 || bytes != nil, count >= 0 else {
      throw .argument("bytes is NULL; pass the address of \(count) bytes")
    }
    let copied = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    return try unsafe box.set(.data(copied), key)
  }
}

@c @implementation
public func framebus_settings_remove(
  _ settings: OpaquePointer!, _ key: UnsafePointer<CChar>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    let key = try unsafe text(key, "key")
    try DefaultsError.converted(try box.settings.removeObject(forKey: key))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_settings_synchronize(
  _ settings: OpaquePointer!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(settings, SettingsBox.self, error) { box throws(CFailure) in
    try DefaultsError.converted(try box.settings.synchronize())
    return FRAMEBUS_OK
  }
}
