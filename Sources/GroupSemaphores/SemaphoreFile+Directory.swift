import AppGroup
import Platform

/// The semaphore directory: one file for each semaphore, with access by the group's roles.
extension SemaphoreFile {
  private static let suffix = ".semaphore"
  private static let temporaryPrefix = ".new-"

  private static func fileName(_ name: SemaphoreName) -> String { name.text + suffix }

  /// Creates a semaphore under a temporary name and renames it when it is complete: of two
  /// concurrent calls one succeeds, and no process opens an incomplete file.
  static func create(
    _ name: SemaphoreName, in group: AppGroup, initialValue: Int, isRecoverable: Bool,
    _ onStep: OnStep
  ) throws(SemaphoreFileError) -> SemaphoreFile {
    guard isSemaphoreLayoutKnown else { throw .unknownLayout }
    let maximum = maximumValue(isRecoverable: isRecoverable)
    guard (0...maximum).contains(initialValue) else {
      throw .wrongValue(initialValue, maximum: maximum)
    }
    let directory = try directory(of: group)
    // A semaphore that root creates belongs to the group's owner, who could not use it otherwise.
    let ownerID = currentUserID() == 0 ? group.ownerID : currentUserID()
    let temporary = temporaryName(prefix: temporaryPrefix)
    do throws(SemaphoreFileError) {
      return try SemaphoreFileError.attempt { () throws(SystemError) in
        // A creation that takes over a minute finds its file removed, and fails.
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

  /// Opens a semaphore. Whatever lies at its path cannot do harm.
  static func open(
    _ name: SemaphoreName, in group: AppGroup
  ) throws(SemaphoreFileError) -> SemaphoreFile {
    guard isSemaphoreLayoutKnown else { throw .unknownLayout }
    let directory = try directory(of: group)
    let path = directory.path(of: fileName(name))
    do throws(SemaphoreFileError) {
      // Checked before it is opened: opening a device can have effects.
      let found = try SemaphoreFileError.attempt(directory.status(of: fileName(name)))
      guard let found else { throw .unknown(name) }
      try requireFile(found, path)
      let descriptor = try SemaphoreFileError.attempt(directory.openForInspection(fileName(name)))
      let status = try SemaphoreFileError.attempt(fileStatus(of: descriptor, path: path))
      try requireTrusted(status, path, group)
      let memory = try SemaphoreFileError.attempt(GuardedMapping(descriptor, byteCount: byteCount))
      let header = try readHeader(memory, path)
      return SemaphoreFile(
        name: name, descriptor: descriptor, memory: memory, isRecoverable: header.isRecoverable,
        initialValue: header.initialValue, ownerID: status.ownerID)
    } catch {
      if case .system(let cause) = error, cause.isMissing { throw .unknown(name) }
      throw error
    }
  }

  /// The names of files that may be semaphores, sorted.
  static func names(in group: AppGroup) throws(SemaphoreFileError) -> [SemaphoreName] {
    let directory = try directory(of: group)
    let names = try SemaphoreFileError.attempt(directory.names())
    return names.compactMap { name in
      guard name.hasSuffix(suffix) else { return nil }
      return try? SemaphoreName(String(name.dropLast(suffix.utf8.count)))
    }
  }

  /// Removes whatever lies at a semaphore's path.
  static func remove(_ name: SemaphoreName, in group: AppGroup) throws(SemaphoreFileError) {
    let directory = try directory(of: group)
    let found = try SemaphoreFileError.attempt(directory.status(of: fileName(name)))
    if found == nil { throw .unknown(name) }
    try SemaphoreFileError.attempt(directory.removeTree(fileName(name)))
  }

  private static func directory(of group: AppGroup) throws(SemaphoreFileError) -> Directory {
    try SemaphoreFileError.attempt(Directory(path: group.semaphoresPath))
  }

  /// Removes incomplete files of processes that died while creating a semaphore.
  static func sweep(
    _ directory: borrowing Directory, changedBeforeNs limit: Int64
  ) throws(SystemError) {
    for name in try directory.names() where name.hasPrefix(temporaryPrefix) {
      guard let status = try directory.status(of: name), status.changedAtNs < limit else {
        continue
      }
      // The directory is sticky: only its owner can remove another user's file.
      try? directory.removeFile(name)
    }
  }

  private static func requireFile(
    _ status: FileStatus, _ path: String
  ) throws(SemaphoreFileError) {
    if status.kind == .file { return }
    throw .untrusted(path: path, why: "it is a \(status.kind.rawValue), not a file")
  }

  /// Checks that the file was created by a member who may create semaphores. Further hard links are
  /// allowed: a user who can write the file can link it, which grants no further right.
  private static func requireTrusted(
    _ status: FileStatus, _ path: String, _ group: AppGroup
  ) throws(SemaphoreFileError) {
    func refuse(_ why: String) throws(SemaphoreFileError) {
      throw .untrusted(path: path, why: why)
    }
    try requireFile(status, path)
    if status.byteCount != byteCount {
      try refuse("it has \(status.byteCount) bytes, not \(byteCount)")
    }
    let isMember = group.admits(uid: status.ownerID, gid: status.groupID)
    if !isMember && status.ownerID != group.ownerID && status.ownerID != 0 {
      try refuse("it belongs to uid \(status.ownerID), who is not a member of the group")
    }
  }
}
