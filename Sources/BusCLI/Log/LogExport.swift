import AppGroup
import CommandLineSupport
import Platform
import SharedLog

/// An export of the log: a file of JSON lines in a directory that the user chose. Private values
/// are left out.
final class LogExport {
  let path: String
  private(set) var lineCount = 0
  private let directory: Directory
  private let name: String
  private let temporary: String
  private let file: Descriptor
  private var byteCount = 0
  private var bytes: [UInt8] = []
  private let encoder = LogRecordEncoder()
  private var isFinished = false

  /// - Parameter folder: an existing directory.
  init(_ folder: String, group: AppGroup) throws {
    directory = try Directory(path: folder)
    var time = TimeText()
    name = "\(group.id)-\(time.text(wallNowNs())).jsonl"
    path = directory.path(of: name)
    temporary = temporaryName(prefix: ".new-log-")
    file = try directory.makeFile(temporary, byteCount: 1, mode: 0o600)
  }

  func add(_ record: LogRecord) throws {
    bytes += try encoder.line(record, showingPrivate: false)
    lineCount += 1
    if bytes.count >= 1 << 16 { try flush() }
  }

  /// Renames the file to its final name, so that a file of that name is always complete.
  func finish() throws {
    try flush()
    try file.setByteCount(byteCount)
    try file.syncData()
    try directory.rename(temporary, to: name, replacing: false)
    try directory.sync()
    isFinished = true
  }

  private func flush() throws {
    try file.write(bytes, at: byteCount)
    byteCount += bytes.count
    bytes.removeAll(keepingCapacity: true)
  }

  deinit { if !isFinished { try? directory.removeFile(temporary) } }
}
