import CommandLineSupport
import FoundationEssentials
import Platform
import SharedLog

/// Prints log lines to standard output, buffered.
final class LogScreen {
  private let isJSON: Bool
  private var bytes: [UInt8] = []
  private var time = TimeText()
  private let encoder = LogRecordEncoder()

  private static let flushBytes = 1 << 16

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// - Parameter machine: nil for the log of this machine alone.
  func show(_ record: LogRecord, of machine: LogMachine? = nil) throws {
    if isJSON {
      bytes += try encoder.line(record, of: machine, showingPrivate: true)
    } else {
      addText(record, of: machine)
    }
    if bytes.count >= Self.flushBytes { try flush() }
  }

  /// Writes buffered lines.
  func flush() throws {
    if bytes.isEmpty { return }
    try writeFully(bytes, to: 1)
    bytes.removeAll(keepingCapacity: true)
  }

  /// `TIME LEVEL MACHINE/ROLE[PID] LABEL: MESSAGE KEY=VALUE… (SOURCE)`
  private func addText(_ record: LogRecord, of machine: LogMachine?) {
    add(time.text(record.wallNs))
    add(" ")
    add(Self.levelTexts[Int(record.level.rawValue)])
    if let machine { add(machine.name + "/") }
    add(record.run.role.rawValue)
    // “?” marks a role that the writing process claims but this user may not take.
    add(record.run.isRoleHeld ? "[" : "?[")
    add("\(record.run.pid)] ")
    if !record.label.isEmpty {
      add(record.label.plain)
      add(": ")
    }
    add(record.message.plain)
    if record.isCut { add("…") }
    for field in record.metadata {
      add(" ")
      add(field.key.plain)
      add("=")
      add(field.value.plain)
    }
    if record.level >= .warning, !record.source.isEmpty {
      add(" (")
      add(record.source.plain)
      add(")")
    }
    add("\n")
  }

  private func add(_ text: String) { bytes += text.utf8 }

  private static let levelTexts = LogLevel.allCases.map { $0.description.padded(to: 9) }
}

/// The JSON form of a log line. Field names are a stable interface.
struct LogRecordEncoder {
  private let encoder = JSONEncoder()

  init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

  func line(
    _ record: LogRecord, of machine: LogMachine? = nil, showingPrivate: Bool
  ) throws -> [UInt8] {
    var line = Line(record, showingPrivate)
    line.machine = machine?.name
    line.clockAheadNs = machine?.clockAheadNs
    return try plainJSON(Array(encoder.encode(line))) + [UInt8(ascii: "\n")]
  }

  private struct Line: Encodable {
    /// In the log of all machines; the offset is left out if it is not known.
    var machine: String?
    var clockAheadNs: Int64?
    let time: String
    let monotonicNs: UInt64
    let pid: UInt32
    let uid: UInt32
    let role: String
    let isRoleHeld: Bool
    let session: String
    let sequence: UInt64
    let level: String
    let label: String
    let message: String
    let isCut: Bool
    let metadata: [String: String]
    let source: String

    init(_ record: LogRecord, _ showingPrivate: Bool) {
      var text = TimeText()
      time = text.text(record.wallNs)
      monotonicNs = record.monotonicNs
      pid = record.run.pid
      uid = record.run.uid
      role = record.run.role.rawValue
      isRoleHeld = record.run.isRoleHeld
      session = record.run.session
      sequence = record.sequence
      level = record.level.description
      label = record.label
      message = record.message
      isCut = record.isCut
      let fields = record.metadata.map {
        ($0.key, showingPrivate ? $0.value : $0.sharedValue)
      }
      metadata = Dictionary(fields, uniquingKeysWith: { $1 })
      source = record.source
    }
  }
}
