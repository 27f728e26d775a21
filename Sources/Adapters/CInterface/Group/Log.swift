import AppGroup
import CFrameBus
import Platform
import SharedLog

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

final class LogBox: Handled {
  static let kind = HandleKind.log
  let log: SharedLog
  init(_ log: SharedLog) { self.log = log }
}

/// The level that C passes: one more than SharedLog's, so that 0 is free.
private func level(_ number: UInt32) throws(CFailure) -> LogLevel {
  guard number > 0, let level = LogLevel(rawValue: UInt8(clamping: number - 1)) else {
    throw .argument("the level \(number) is unknown; use FRAMEBUS_LOG_TRACE to _CRITICAL")
  }
  return level
}

@c @implementation
public func framebus_log_open(
  _ group: OpaquePointer!, _ role: UnsafePointer<CChar>!, _ minimum_level: UInt32,
  _ log: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(log)
    let role = try unsafe CInterface.role(role)
    var options = LogOptions()
    if minimum_level != 0 { options.minimumLevel = try level(minimum_level) }
    let opened = try LogError.converted(
      try SharedLog.open(box.group, role: role, options: options))
    try unsafe set(log, LogBox(opened))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_log_writes(_ log: OpaquePointer!, _ level: UInt32) -> Int32 {
  unsafe using(log, LogBox.self) { box throws(CFailure) in
    box.log.writes(try CInterface.level(level)) ? 1 : 0
  }
}

@c @implementation
public func framebus_log_append(
  _ log: OpaquePointer!, _ level: UInt32, _ label: UnsafePointer<CChar>!,
  _ message: UnsafePointer<CChar>!, _ fields: UnsafePointer<framebus_log_field>!,
  _ field_count: Int, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(log, LogBox.self, error) { box throws(CFailure) in
    let level = try CInterface.level(level)
    guard box.log.writes(level) else { return FRAMEBUS_OK }
    let label = try unsafe optionalText(label, "label") ?? ""
    let message = try unsafe text(message, "message")
    let given = try unsafe CInterface.fields(fields, field_count)
    box.log.append(level, message, label: label, metadata: given, source: "", line: 0)
    return FRAMEBUS_OK
  }
}

private func fields(
  _ fields: UnsafePointer<framebus_log_field>?, _ count: Int
) throws(CFailure) -> [LogField] {
  guard count != 0 else { return [] }
  guard let fields = unsafe fields, (1...1000).contains(count) else {
    throw .argument("fields is NULL or field_count \(count); pass up to 1000 fields")
  }
  var list: [LogField] = []
  for index in 0..<count {
    let field = unsafe fields[index]
    guard unsafe field.is_private <= 1, unsafe field.reserved == 0 else {
      throw .argument("a field's is_private is not 0 or 1, or its reserved not 0")
    }
    list.append(
      LogField(
        try unsafe text(field.key, "a field's key"),
        try unsafe text(field.value, "a field's value"),
        isPrivate: unsafe field.is_private == 1))
  }
  return list
}

@c @implementation
public func framebus_log_flush(
  _ log: OpaquePointer!, _ deadline_ns: UInt64, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(log, LogBox.self, error) { box throws(CFailure) in
    try LogError.converted(try box.log.flush(until: Deadline(monotonicNs: deadline_ns)))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_log_close(
  _ log: OpaquePointer!, _ deadline_ns: UInt64, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe attempt(error) { () throws(CFailure) in
    let box = try unsafe HandleTable.shared.remove(log, LogBox.self)
    try LogError.converted(try box.log.close(until: Deadline(monotonicNs: deadline_ns)))
    return FRAMEBUS_OK
  }
}
