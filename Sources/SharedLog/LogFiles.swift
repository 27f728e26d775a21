import CLogLayout
import Platform

/// The files that a run's lines are saved to, in order.
struct LogFiles: ~Copyable {
  private let name: RunName
  private let header: RunHeader
  private let options: LogOptions
  private let logsPath: String
  private var directory: Directory
  private var current: SharedDescriptor?
  /// Files with writes that may not be on the disk yet, the current one among them.
  private var unsynced: [SharedDescriptor] = []
  private var index: Int
  private var byteCount = 0
  private var begunAtNs: UInt64 = 0
  /// Whether the file's name survives a power cut.
  private var isNameDurable = false

  init(
    _ name: RunName, _ header: RunHeader, _ options: LogOptions, logsPath: String,
    index: Int = 0
  ) throws(SystemError) {
    directory = try Directory(path: logsPath)
    self.name = name
    self.header = header
    self.options = options
    self.logsPath = logsPath
    self.index = index
  }

  /// Limit for one user in one role: many short runs make many small files.
  private static let maximumFiles = 1000
  private static let maximumUnsynced = 8

  /// Bytes left in the current file; those of an empty file if a new one is needed.
  var room: Int {
    let left = options.rotateBytes - byteCount
    return current == nil || left < Int(LG_RECORD_LIMIT)
      ? options.rotateBytes - Int(LG_FILE_RECORDS) : left
  }

  /// Appends records, to a new file if the current one is full.
  mutating func save(
    _ batch: Segment.Batch, of segment: Segment, with writer: BatchWriter, isDurable: Bool
  ) throws(SystemError) {
    if try isFull(batch.byteCount) { try begin(at: batch.position) }
    guard let file = current else { return }
    if isDurable { try sync(all: unsynced.dropLast()) }
    // If a write fails partway, the next attempt overwrites what it left.
    try segment.save(batch, with: writer, to: file.number, at: byteCount, isDurable: isDurable)
    byteCount += batch.byteCount
    if isDurable { try makeNameDurable() }
  }

  /// Waits until all written records survive a power cut.
  mutating func sync() throws(SystemError) {
    try sync(all: unsynced[...])
    try makeNameDurable()
  }

  private mutating func sync(all files: ArraySlice<SharedDescriptor>) throws(SystemError) {
    for file in files { try syncData(file.number) }
    unsynced = current.map { [$0] } ?? []
  }

  private mutating func makeNameDurable() throws(SystemError) {
    if isNameDurable { return }
    try directory.sync()
    isNameDurable = true
  }

  private mutating func isFull(_ added: Int) throws(SystemError) -> Bool {
    guard let file = current else { return true }
    // Another process may have removed the file: lines written to it would be lost unnoticed.
    let isRemoved = try? file.status(path: name.fileName(index)).linkCount == 0
    return isRemoved != false || byteCount + added > options.rotateBytes
      || Duration.nanoseconds(Int64(clamping: monotonicNowNs() &- begunAtNs))
        >= options.rotateAfter
  }

  private mutating func begin(at position: UInt64) throws(SystemError) {
    if unsynced.count >= Self.maximumUnsynced { try sync() }
    directory = try Directory(path: logsPath)
    try? makeRoom()
    let header = header.ofFile(from: position)
    let file = try makeFile(header)
    current = file
    unsynced.append(file)
    byteCount = header.recordsAt
    begunAtNs = monotonicNowNs()
    isNameDurable = false
  }

  private mutating func makeFile(_ header: RunHeader) throws(SystemError) -> SharedDescriptor {
    while true {
      index += 1
      let fileName = name.fileName(index)
      do throws(SystemError) {
        let file = try directory.makeFile(fileName, byteCount: header.recordsAt, mode: 0o640)
        do throws(SystemError) {
          try file.write(header.bytes, at: 0)
          return SharedDescriptor(owning: file.release())
        } catch {
          try? directory.removeFile(fileName)
          throw error
        }
      } catch  where error.isExisting {
        // Another member took the name. Leave its file alone: readers distinguish files by owner.
        continue
      }
    }
  }

  /// Removes the oldest files of this user's runs in the role, so that the rest and a new file fit
  /// in the quota.
  private func makeRoom() throws(SystemError) {
    var files: [(name: String, status: FileStatus)] = []
    for fileName in try directory.names() {
      guard let file = RunName.file(fileName), file.run.role == name.role,
        let status = try directory.status(of: fileName), status.ownerID == currentUserID()
      else { continue }
      files.append((fileName, status))
    }
    var sum = files.reduce(options.rotateBytes) { $0 + $1.status.byteCount }
    var count = files.count
    for file in files.sorted(by: { $0.status.changedAtNs < $1.status.changedAtNs }) {
      if sum <= options.quotaBytes, count < Self.maximumFiles { return }
      try directory.removeFile(file.name)
      sum -= file.status.byteCount
      count -= 1
    }
  }
}
