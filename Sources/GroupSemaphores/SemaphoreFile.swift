import AppGroup
import CSemaphoreLayout
import Platform

/// The mapped file of one semaphore. Any member may write nonsense into it or truncate it at any
/// moment, so what is read there is checked at each look.
struct SemaphoreFile: ~Copyable, Sendable {
  let name: SemaphoreName
  let descriptor: Descriptor
  let memory: GuardedMapping
  let isRecoverable: Bool
  let initialValue: Int
  let ownerID: UInt32

  /// The highest count.
  static func maximumValue(isRecoverable: Bool) -> Int {
    isRecoverable ? Int(GS_PERMITS) : semaphoreValueMaximum
  }

  var maximumValue: Int { Self.maximumValue(isRecoverable: isRecoverable) }

  private static let suffix = ".semaphore"
  private static let temporaryPrefix = ".new-"
  private static let byteCount = Int(GS_BYTES)

  private static func fileName(_ name: SemaphoreName) -> String { name.text + suffix }

  // MARK: The directory

  /// Makes a semaphore under a temporary name and puts it in place as a whole: of two makers one
  /// succeeds, and nobody meets half a semaphore.
  static func make(
    _ name: SemaphoreName, in group: AppGroup, initialValue: Int, isRecoverable: Bool,
    _ onStep: OnStep
  ) throws(SemaphoreFileError) -> SemaphoreFile {
    guard isSemaphoreLayoutKnown else { throw .unknownLayout }
    let maximum = maximumValue(isRecoverable: isRecoverable)
    guard (0...maximum).contains(initialValue) else {
      throw .wrongValue(initialValue, maximum: maximum)
    }
    let directory = try directory(of: group)
    // What root makes is the owner's, who could not use it otherwise.
    let ownerID = currentUserID() == 0 ? group.ownerID : currentUserID()
    let temporary = temporaryName(prefix: temporaryPrefix)
    do throws(SemaphoreFileError) {
      return try attempt { () throws(SystemError) in
        // One that takes a minute finds its file gone, and fails.
        try sweep(
          directory, changedBeforeNs: Int64(clamping: wallNowNs()) - 60_000_000_000)
        let descriptor = try directory.makeFile(
          temporary, byteCount: byteCount, mode: 0o660, ownerID: ownerID)
        onStep?(.fileMade)
        let memory = try GuardedMapping(descriptor, byteCount: byteCount)
        let file = SemaphoreFile(
          name: name, descriptor: descriptor, memory: memory, isRecoverable: isRecoverable,
          initialValue: initialValue, ownerID: ownerID)
        try file.initialize()
        onStep?(.fileWritten)
        try directory.rename(temporary, to: fileName(name), replacing: false)
        onStep?(.fileNamed)
        return file
      }
    } catch {
      try? directory.removeFile(temporary)
      if case .system(let cause) = error, cause.isExisting { throw .exists(name) }
      throw error
    }
  }

  /// Opens a semaphore, whatever may lie in its place.
  static func open(
    _ name: SemaphoreName, in group: AppGroup
  ) throws(SemaphoreFileError) -> SemaphoreFile {
    guard isSemaphoreLayoutKnown else { throw .unknownLayout }
    let directory = try directory(of: group)
    let path = directory.path(of: fileName(name))
    do throws(SemaphoreFileError) {
      // Looked at first: merely opening a device can have effects.
      let found = try attempt { () throws(SystemError) in
        try directory.status(of: fileName(name))
      }
      guard let found else { throw .unknown(name) }
      try requireTrusted(found, path, group)
      let descriptor = try attempt { () throws(SystemError) in
        try directory.openForLooking(fileName(name))
      }
      let status = try attempt { () throws(SystemError) in
        try fileStatus(of: descriptor, path: path)
      }
      try requireTrusted(status, path, group)
      let memory = try attempt { () throws(SystemError) in
        try GuardedMapping(descriptor, byteCount: byteCount)
      }
      let header = try readHeader(memory, path)
      return SemaphoreFile(
        name: name, descriptor: descriptor, memory: memory, isRecoverable: header.isRecoverable,
        initialValue: header.initialValue, ownerID: status.ownerID)
    } catch {
      if case .system(let cause) = error, cause.isMissing { throw .unknown(name) }
      throw error
    }
  }

  /// The names that may be those of semaphores, sorted.
  static func names(in group: AppGroup) throws(SemaphoreFileError) -> [SemaphoreName] {
    let directory = try directory(of: group)
    let names = try attempt { () throws(SystemError) in try directory.names() }
    return names.compactMap { name in
      guard name.hasSuffix(suffix) else { return nil }
      return try? SemaphoreName(String(name.dropLast(suffix.utf8.count)))
    }
  }

  /// Takes a semaphore's name away, whatever may lie there.
  static func remove(_ name: SemaphoreName, in group: AppGroup) throws(SemaphoreFileError) {
    let directory = try directory(of: group)
    let found = try attempt { () throws(SystemError) in
      try directory.status(of: fileName(name))
    }
    if found == nil { throw .unknown(name) }
    try attempt { () throws(SystemError) in try directory.removeTree(fileName(name)) }
  }

  private static func directory(of group: AppGroup) throws(SemaphoreFileError) -> Directory {
    try attempt { () throws(SystemError) in try Directory(path: group.semaphoresPath) }
  }

  /// Removes what makers that died left half made.
  static func sweep(
    _ directory: borrowing Directory, changedBeforeNs limit: Int64
  ) throws(SystemError) {
    for name in try directory.names() where name.hasPrefix(temporaryPrefix) {
      guard let status = try directory.status(of: name), status.changedAtNs < limit else {
        continue
      }
      // The directory is sticky: another user's is theirs to remove.
      try? directory.removeFile(name)
    }
  }

  // MARK: The file

  private func initialize() throws(SystemError) {
    if isRecoverable {
      for index in 0..<initialValue { setPermitFree(index) }
    } else {
      try memory.initializeSemaphore(at: Int(GS_AT_POSIX), value: UInt32(initialValue))
    }
    let kind = isRecoverable ? GS_KIND_RECOVERABLE : GS_KIND_PLAIN
    // SYNC make/open: nobody can open the file before its rename.
    memory.storeReleasing32(UInt32(kind), at: Int(GS_AT_KIND))
    memory.storeReleasing32(UInt32(initialValue), at: Int(GS_AT_INITIAL_VALUE))
    memory.storeReleasing32(UInt32(GS_ABI_VERSION), at: Int(GS_AT_ABI_VERSION))
    memory.storeReleasing64(GS_MAGIC, at: Int(GS_AT_MAGIC))
  }

  /// Reads what was set once, and checks that it makes sense.
  private static func readHeader(
    _ memory: borrowing GuardedMapping, _ path: String
  ) throws(SemaphoreFileError) -> (isRecoverable: Bool, initialValue: Int) {
    // SYNC make/open: the header was written before the file had its name.
    let magic = memory.loadAcquiring64(at: Int(GS_AT_MAGIC))
    let version = memory.loadAcquiring32(at: Int(GS_AT_ABI_VERSION))
    let kind = memory.loadAcquiring32(at: Int(GS_AT_KIND))
    let initialValue = Int(memory.loadAcquiring32(at: Int(GS_AT_INITIAL_VALUE)))
    if magic != GS_MAGIC { throw .untrusted(path: path, why: "it does not begin like one") }
    if version != UInt32(GS_ABI_VERSION) { throw .wrongVersion(path: path, version: version) }
    let isRecoverable = kind == UInt32(GS_KIND_RECOVERABLE)
    guard isRecoverable || kind == UInt32(GS_KIND_PLAIN),
      initialValue <= maximumValue(isRecoverable: isRecoverable)
    else { throw .untrusted(path: path, why: "its header makes no sense") }
    return (isRecoverable, initialValue)
  }

  /// Only members who may make semaphores could have made it, and no further name leads to it.
  private static func requireTrusted(
    _ status: FileStatus, _ path: String, _ group: AppGroup
  ) throws(SemaphoreFileError) {
    func refuse(_ why: String) throws(SemaphoreFileError) {
      throw .untrusted(path: path, why: why)
    }
    if status.kind != .file { try refuse("it is a \(status.kind.rawValue), no file") }
    if status.linkCount > 1 { try refuse("it has \(status.linkCount) names (hard links)") }
    if status.byteCount != byteCount {
      try refuse("it has \(status.byteCount) bytes, not \(byteCount)")
    }
    let isMember = group.admits(uid: status.ownerID, gid: status.groupID)
    if !isMember && status.ownerID != group.ownerID && status.ownerID != 0 {
      try refuse("it belongs to uid \(status.ownerID), who is no member of the group")
    }
  }

  /// Makes sure that the file still has its name and its bytes: the kernel says so, whatever is
  /// written in it. One system call.
  func requireThere() throws(SemaphoreError) {
    let status: FileStatus
    do {
      status = try fileStatus(of: descriptor, path: name.text)
    } catch {
      throw .system(error)
    }
    if status.linkCount == 0 { throw .removed(name) }
    if status.byteCount != Self.byteCount {
      throw .damaged(name, why: "its file has \(status.byteCount) bytes, not \(Self.byteCount)")
    }
    // SYNC make/open: as at opening.
    if memory.loadAcquiring64(at: Int(GS_AT_MAGIC)) != GS_MAGIC {
      throw .damaged(name, why: "its file does not begin like a semaphore")
    }
    try requireWhole()
  }

  /// Makes sure that what was just done was done to the file, not to pages of zeros in its place.
  func requireWhole() throws(SemaphoreError) {
    if memory.isLost { throw .damaged(name, why: "its file was truncated while in use") }
  }
}

/// Makes system calls, and gives a refusal its own case.
private func attempt<Value: ~Copyable>(
  _ calls: () throws(SystemError) -> Value
) throws(SemaphoreFileError) -> Value {
  do {
    return try calls()
  } catch {
    if error.isAccessRefusal { throw .notAllowed(path: error.path ?? error.operation) }
    throw .system(error)
  }
}
