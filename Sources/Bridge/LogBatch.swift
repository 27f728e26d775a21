import AppGroup
import Platform
import SharedLog

/// Lines of one machine's log, as they cross a network. Private values stay on their machine.
package struct LogBatch: Sendable {
  /// A line, or a gap in a run's lines.
  package enum Item: Sendable {
    case line(LogRecord)
    case missing(count: UInt64, run: LogRun)
  }

  package let machine: MachineName
  /// How far the machine's wall clock is ahead of the server's; nil if not known yet.
  package let clock: ClockOffset?
  package private(set) var items: [Item] = []
  private var body = ByteWriter()

  package static let maximumBytes = 262_144
  private static let magic: UInt32 = 0x314c_4246  // “FBL1”
  private static let maximumItems = 1024
  private static let maximumTextBytes = 65536
  private static let maximumFields = 255
  private static let headBytes = 128

  package init(machine: MachineName, clock: ClockOffset?) {
    self.machine = machine
    self.clock = clock
  }

  package var isEmpty: Bool { items.isEmpty }

  /// The last line; nil if there are only gaps.
  package var lastLine: LogRecord? {
    for case .line(let record) in items.reversed() { return record }
    return nil
  }

  /// - Returns: false if there is no room.
  package mutating func add(_ item: Item) -> Bool {
    var writer = ByteWriter()
    switch item {
    case .line(let record):
      writer.integer(UInt8(1))
      writer.add(record.run)
      for number in [record.wallNs, record.monotonicNs, record.sequence] { writer.integer(number) }
      writer.integer(record.level.rawValue)
      writer.integer(UInt8(record.isCut ? 1 : 0))
      for text in [record.label, record.message, record.source] { writer.add(text) }
      let fields = record.metadata.prefix(Self.maximumFields)
      writer.integer(UInt8(fields.count))
      for field in fields {
        writer.integer(UInt8(field.isPrivate ? 1 : 0))
        writer.add(field.key)
        writer.add(field.sharedValue)
      }
    case .missing(let count, let run):
      writer.integer(UInt8(2))
      writer.add(run)
      writer.integer(count)
    }
    let byteCount = Self.headBytes + body.bytes.count + writer.bytes.count
    guard items.count < Self.maximumItems, byteCount <= Self.maximumBytes else { return false }
    body.raw(writer.bytes)
    items.append(item)
    return true
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(Self.magic)
    writer.add(machine.text)
    writer.integer(UInt8(clock == nil ? 0 : 1))
    writer.integer(clock?.aheadNs ?? 0)
    writer.integer(clock?.errorNs ?? 0)
    writer.integer(UInt16(items.count))
    writer.raw(body.bytes)
    return writer.bytes
  }

  /// - Returns: nil unless the bytes are exactly one batch.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumBytes else { return nil }
    var parser = ByteParser(bytes)
    do throws(FormatError) {
      guard try parser.integer(UInt32.self) == Self.magic,
        let machine = MachineName(try Self.text(&parser))
      else { return nil }
      self.machine = machine
      let isKnown = try parser.integer(UInt8.self) == 1
      let clock = ClockOffset(
        aheadNs: try parser.integer(Int64.self), errorNs: try parser.integer(UInt64.self))
      self.clock = isKnown ? clock : nil
      let count = Int(try parser.integer(UInt16.self))
      guard count <= Self.maximumItems else { return nil }
      body.raw(bytes[parser.position...])
      for _ in 0..<count {
        switch try parser.integer(UInt8.self) {
        case 1: items.append(.line(try Self.line(&parser)))
        case 2:
          let run = try Self.run(&parser)
          items.append(.missing(count: try parser.integer(UInt64.self), run: run))
        default: return nil
        }
      }
    } catch {
      return nil
    }
    guard parser.isAtEnd else { return nil }
  }

  private static func text(_ parser: inout ByteParser) throws(FormatError) -> String {
    let count = Int(try parser.integer(UInt32.self))
    guard count <= maximumTextBytes else { throw .wrong }
    return try parser.text(byteCount: count)
  }

  private static func run(_ parser: inout ByteParser) throws(FormatError) -> LogRun {
    let name = try text(&parser)
    let pid = try parser.integer(UInt32.self)
    let uid = try parser.integer(UInt32.self)
    guard let role = Role(rawValue: try text(&parser)) else { throw .wrong }
    let isHeld = try parser.integer(UInt8.self) == 1
    let session = try text(&parser)
    guard (1...256).contains(name.utf8.count), session.utf8.count <= 256 else { throw .wrong }
    return LogRun(
      name: name, pid: pid, uid: uid, role: role, isRoleHeld: isHeld, session: session)
  }

  private static func line(_ parser: inout ByteParser) throws(FormatError) -> LogRecord {
    let run = try run(&parser)
    let wallNs = try parser.integer(UInt64.self)
    let monotonicNs = try parser.integer(UInt64.self)
    let sequence = try parser.integer(UInt64.self)
    guard let level = LogLevel(rawValue: try parser.integer(UInt8.self)) else { throw .wrong }
    let isCut = try parser.integer(UInt8.self) == 1
    let label = try text(&parser)
    let message = try text(&parser)
    let source = try text(&parser)
    var metadata: [LogField] = []
    for _ in 0..<(try parser.integer(UInt8.self)) {
      let isPrivate = try parser.integer(UInt8.self) == 1
      let key = try text(&parser)
      metadata.append(LogField(key, try text(&parser), isPrivate: isPrivate))
    }
    return LogRecord(
      wallNs: wallNs, monotonicNs: monotonicNs, run: run, sequence: sequence, level: level,
      label: label, message: message, metadata: metadata, source: source, isCut: isCut)
  }
}

extension ByteWriter {
  fileprivate mutating func add(_ text: String) {
    integer(UInt32(text.utf8.count))
    raw(text.utf8)
  }

  fileprivate mutating func add(_ run: LogRun) {
    add(run.name)
    integer(run.pid)
    integer(run.uid)
    add(run.role.rawValue)
    integer(UInt8(run.isRoleHeld ? 1 : 0))
    add(run.session)
  }
}

/// Drops lines that a reader has seen, because a bridge that was killed sends its newest lines
/// again, and counts those that it will not see.
package struct SeenLines: Sendable {
  private var last: [String: UInt64] = [:]
  private static let maximumRuns = 65536

  package init() {}

  /// A line's place among those that were seen.
  package enum Place: Equatable, Sendable {
    case repeated
    /// The first line of its run.
    case first
    case next(missing: UInt64)
  }

  /// Lines of one run arrive in order.
  package mutating func place(_ record: LogRecord, of machine: MachineName) -> Place {
    let run = "\(machine)/\(record.run.name)"
    let seen = last[run]
    if let seen, record.sequence <= seen { return .repeated }
    if last.count >= Self.maximumRuns { last.removeAll() }
    last[run] = record.sequence
    return seen.map { .next(missing: record.sequence - $0 - 1) } ?? .first
  }
}
