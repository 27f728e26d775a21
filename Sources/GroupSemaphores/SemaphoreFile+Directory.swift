import AppGroup
import Platform

/// Where semaphores lie: each a file in a directory that the group's roles decide about.
extension SemaphoreFile {
  private static let suffix = ".semaphore"
  private static let temporaryPrefix = ".new-"

  private static func fileName(_ name: SemaphoreName) -> String { name.text + suffix }

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
      try requireFile(found, path)
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

  private static func requireFile(
    _ status: FileStatus, _ path: String
  ) throws(SemaphoreFileError) {
    if status.kind == .file { return }
    throw .untrusted(path: path, why: "it is a \(status.kind.rawValue), no file")
  }

  /// Only members who may make semaphores could have made it. It may have further names: who may
  /// write it can link it, which gives nobody a further right.
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
      try refuse("it belongs to uid \(status.ownerID), who is no member of the group")
    }
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
