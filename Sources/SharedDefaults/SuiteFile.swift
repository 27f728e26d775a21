import Platform

/// The open file of one suite: read and appended to by calls of the kernel, but for the words that
/// say how far it goes, which are mapped, so that looking for changes takes no call. Any member who
/// may write can put anything there, so what is read is checked.
final class SuiteFile: Sendable {
  let path: String
  private let descriptor: Descriptor
  private let memory: GuardedMapping
  private let status: FileStatus
  /// Why it can only be read; nil if it can be written.
  let refusal: SystemError?
  var isWritable: Bool { refusal == nil }

  /// - Returns: nil if there is no such file.
  init?(_ name: SuiteName, in directory: borrowing Directory) throws(DefaultsError) {
    let path = directory.path(of: name.fileName)
    guard
      let found = try attempt({ () throws(SystemError) in
        try directory.status(of: name.fileName)
      })
    else { return nil }
    // Looked at first: merely opening a device can have effects.
    if found.kind != .file {
      throw .untrusted(path: path, why: "it is a \(found.kind.rawValue), not a file")
    }
    var refusal: SystemError?
    let opened = try attempt { () throws(SystemError) in
      try Self.opened(name, in: directory, &refusal)
    }
    guard let opened else { return nil }
    let status = try attempt { () throws(SystemError) in try fileStatus(of: opened, path: path) }
    if status.kind != .file {
      throw .untrusted(path: path, why: "it is a \(status.kind.rawValue), not a file")
    }
    // One that another process has just replaced has none; it says itself that it is retired.
    if status.linkCount > 1 {
      throw .untrusted(path: path, why: "it has \(status.linkCount) names (hard links)")
    }
    let access: Mapping.Access = refusal == nil ? .readAndWrite : .read
    memory = try attempt { () throws(SystemError) in
      try GuardedMapping(opened, byteCount: SuiteFormat.headerBytes, access)
    }
    descriptor = opened
    self.path = path
    self.status = status
    self.refusal = refusal
  }

  /// - Parameter refusal: becomes why it can only be read.
  /// - Returns: nil if there is no such file any more.
  private static func opened(
    _ name: SuiteName, in directory: borrowing Directory, _ refusal: inout SystemError?
  ) throws(SystemError) -> Descriptor? {
    do throws(SystemError) {
      return try directory.openForLooking(name.fileName)
    } catch {
      // Another process removed it meanwhile.
      if error.isMissing { return nil }
      guard error.isAccessRefusal || error.reasonKind == .readOnly else { throw error }
      refusal = error
      return try directory.openForReading(name.fileName)
    }
  }

  /// Whether the entry of a directory is this very file.
  func isThere(_ entry: FileStatus?) -> Bool {
    entry?.inode == status.inode && entry?.device == status.device
  }

  // MARK: Words

  /// Where the journal ends, and whether another file is about to take the place of this one.
  struct Extent: Equatable {
    let word: UInt64
    var end: Int { Int(word & ~SuiteFormat.retired) }
    var isRetired: Bool { word & SuiteFormat.retired != 0 }
  }

  var extent: Extent {
    // SYNC suite-extent: acquiring side. What lies before the end was written before.
    Extent(word: memory.loadAcquiring64(at: SuiteFormat.atExtent))
  }

  /// Makes what was written up to here count.
  func moveEnd(to end: Int) {
    // SYNC suite-extent: release side, under the file's lock.
    memory.storeReleasing64(UInt64(end), at: SuiteFormat.atExtent)
  }

  /// Has whoever reads this file look for another, or takes that back.
  func setRetired(_ isRetired: Bool) {
    let end = UInt64(extent.end)
    let word = isRetired ? end | SuiteFormat.retired : end
    // SYNC suite-extent: release side, under the file's lock.
    memory.storeReleasing64(word, at: SuiteFormat.atExtent)
  }

  /// Whether the file was truncated under this mapping, so that the words are no longer the file's.
  var isLost: Bool { memory.isLost }

  // MARK: Contents

  /// Bytes of the file, fewer where it ends.
  func bytes(_ range: Range<Int>) throws(DefaultsError) -> [UInt8] {
    try attempt { () throws(SystemError) in
      try descriptor.bytes(at: range.lowerBound, count: range.count, path: path)
    }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(DefaultsError) {
    try attempt { () throws(SystemError) in
      try descriptor.write(bytes, at: offset, path: path)
    }
  }

  /// Cuts off what a writer left that died before its record counted.
  func cut(to byteCount: Int) throws(DefaultsError) {
    try attempt { () throws(SystemError) in try descriptor.setByteCount(byteCount) }
  }

  /// Writes something that is no matter to anyone, because a call of the kernel is what observers
  /// are told of (`inotify(7)`), not a store to a mapping.
  func ring(_ sequence: UInt64) throws(DefaultsError) {
    var word = ByteWriter()
    word.integer(sequence)
    try write(word.bytes, at: SuiteFormat.atBell)
  }

  func sync() throws(DefaultsError) {
    try attempt { () throws(SystemError) in
      do throws(SystemError) {
        try descriptor.syncData(path: path)
      } catch {
        throw error.afterChange
      }
    }
  }

  // MARK: Lock

  /// Takes the lock under which the file is changed.
  /// - Throws: ``DefaultsError/busy(path:holderPID:)`` at the deadline.
  func lock(until deadline: Deadline) throws(DefaultsError) {
    let isLocked = try attempt { () throws(SystemError) in
      try descriptor.lockWhole(until: deadline, path: path)
    }
    if !isLocked { throw .busy(path: path, holderPID: holderPID) }
    // SYNC suite-holder: release side. Only for the message of who waits in vain.
    memory.storeReleasing32(UInt32(bitPattern: currentProcessID()), at: SuiteFormat.atHolder)
  }

  func unlock() { descriptor.unlockWhole() }

  /// Who says that it holds the lock.
  private var holderPID: Int32? {
    // SYNC suite-holder: acquiring side.
    let pid = Int32(bitPattern: memory.loadAcquiring32(at: SuiteFormat.atHolder))
    return pid > 0 ? pid : nil
  }
}
