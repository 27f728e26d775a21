import Platform

/// The open file of one suite. It is read and appended to by system calls. Only the words of its
/// header are mapped, so that checking for changes takes no system call. Any member who may write
/// can store anything there, so all data is checked.
final class SuiteFile: Sendable {
  let path: String
  private let descriptor: Descriptor
  private let memory: GuardedMapping
  private let status: FileStatus
  /// The error of opening the file for writing; nil if it is writable.
  let refusal: SystemError?
  var isWritable: Bool { refusal == nil }

  /// - Returns: nil if there is no such file.
  init?(_ name: SuiteName, in directory: borrowing Directory) throws(DefaultsError) {
    let path = directory.path(of: name.fileName)
    guard
      let found = try DefaultsError.attempt(directory.status(of: name.fileName))
    else { return nil }
    // The type is checked first, because merely opening a device can have effects.
    if found.kind != .file {
      throw .untrusted(path: path, why: "it is a \(found.kind.rawValue), not a file")
    }
    var refusal: SystemError?
    let opened = try DefaultsError.attempt(Self.opened(name, in: directory, &refusal))
    guard let opened else { return nil }
    let status = try DefaultsError.attempt(fileStatus(of: opened, path: path))
    if status.kind != .file {
      throw .untrusted(path: path, why: "it is a \(status.kind.rawValue), not a file")
    }
    // A file that another process has just replaced has no link, and says that it is retired.
    if status.linkCount > 1 {
      throw .untrusted(path: path, why: "it has \(status.linkCount) hard links")
    }
    let access: Mapping.Access = refusal == nil ? .readAndWrite : .read
    memory = try DefaultsError.attempt(
      GuardedMapping(opened, byteCount: SuiteFormat.headerBytes, access))
    descriptor = opened
    self.path = path
    self.status = status
    self.refusal = refusal
  }

  /// - Parameter refusal: set to the reason if the file can only be read.
  /// - Returns: nil if the file no longer exists.
  private static func opened(
    _ name: SuiteName, in directory: borrowing Directory, _ refusal: inout SystemError?
  ) throws(SystemError) -> Descriptor? {
    do throws(SystemError) {
      return try directory.openForInspection(name.fileName)
    } catch {
      // Another process removed it meanwhile.
      if error.isMissing { return nil }
      guard error.isAccessRefusal || error.reasonKind == .readOnly else { throw error }
      refusal = error
      return try directory.openForReading(name.fileName)
    }
  }

  /// Whether a directory entry refers to this file.
  func isThere(_ entry: FileStatus?) -> Bool {
    entry?.inode == status.inode && entry?.device == status.device
  }

  // MARK: Words

  /// The end of the journal, and whether another file is about to replace this one.
  struct Extent: Equatable {
    let word: UInt64
    var end: Int { Int(word & ~SuiteFormat.retired) }
    var isRetired: Bool { word & SuiteFormat.retired != 0 }
  }

  var extent: Extent {
    // SYNC suite-extent: acquiring side. All bytes before the end are visible.
    Extent(word: memory.loadAcquiring64(at: SuiteFormat.atExtent))
  }

  /// Publishes the records before the new end.
  func moveEnd(to end: Int) {
    // SYNC suite-extent: release side, under the file's lock.
    memory.storeReleasing64(UInt64(end), at: SuiteFormat.atExtent)
  }

  /// Sets or clears the mark that makes readers check for a new file.
  func setRetired(_ isRetired: Bool) {
    let end = UInt64(extent.end)
    let word = isRetired ? end | SuiteFormat.retired : end
    // SYNC suite-extent: release side, under the file's lock.
    memory.storeReleasing64(word, at: SuiteFormat.atExtent)
  }

  /// Whether the file was truncated under this mapping. The mapped words are then not the file's.
  var isLost: Bool { memory.isLost }

  // MARK: Contents

  /// The file's present size; 0 if it cannot be asked.
  var byteCount: Int { (try? fileStatus(of: descriptor, path: path))?.byteCount ?? 0 }

  /// Bytes of the file; fewer if the file ends before the range does.
  func bytes(_ range: Range<Int>) throws(DefaultsError) -> [UInt8] {
    try DefaultsError.attempt(
      descriptor.bytes(at: range.lowerBound, count: range.count, path: path))
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(DefaultsError) {
    try DefaultsError.attempt(descriptor.write(bytes, at: offset, path: path))
  }

  /// Truncates the file, to remove the record of a writer that died before publishing it.
  func cut(to byteCount: Int) throws(DefaultsError) {
    try DefaultsError.attempt(descriptor.setByteCount(byteCount))
  }

  /// Wakes observers with a write to an otherwise unused word, because `inotify(7)` reports system
  /// calls, not stores to a mapping.
  func ring(_ sequence: UInt64) throws(DefaultsError) {
    var word = ByteWriter()
    word.integer(sequence)
    try write(word.bytes, at: SuiteFormat.atBell)
  }

  func sync() throws(DefaultsError) {
    try DefaultsError.attempt { () throws(SystemError) in
      do throws(SystemError) {
        try descriptor.syncData(path: path)
      } catch {
        throw error.afterChange
      }
    }
  }

  // MARK: Lock

  /// Takes the lock for changing the file.
  /// - Throws: ``DefaultsError/busy(path:holderPID:)`` at the deadline.
  func lock(until deadline: Deadline) throws(DefaultsError) {
    let isLocked = try DefaultsError.attempt(descriptor.lockWhole(until: deadline, path: path))
    if !isLocked { throw .busy(path: path, holderPID: holderPID) }
    // SYNC suite-holder: release side. Only for the error message of a process that times out.
    memory.storeReleasing32(UInt32(bitPattern: currentProcessID()), at: SuiteFormat.atHolder)
  }

  func unlock() { descriptor.unlockWhole() }

  /// The PID that the lock's holder recorded.
  private var holderPID: Int32? {
    // SYNC suite-holder: acquiring side.
    let pid = Int32(bitPattern: memory.loadAcquiring32(at: SuiteFormat.atHolder))
    return pid > 0 ? pid : nil
  }
}
