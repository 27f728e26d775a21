import CLinuxShims
import Glibc

/// Changes to what a directory holds. Every name is a single entry of the directory.
extension Directory {
  /// Makes a directory with exactly these permission bits, whatever the umask.
  /// - Returns: the new directory.
  package borrowing func makeDirectory(
    _ name: String, mode: UInt32
  ) throws(SystemError) -> Directory {
    // SAFETY: the kernel reads the name during the call only.
    guard unsafe mkdirat(descriptor.number, name, mode_t(mode)) == 0 else {
      throw .last("mkdirat", path: path(of: name))
    }
    let made = try openDirectory(name)
    try made.descriptor.widen(to: mode, path: made.path)
    return made
  }

  package borrowing func setMode(_ mode: UInt32) throws(SystemError) {
    guard fchmod(descriptor.number, mode_t(mode)) == 0 else { throw .last("fchmod", path: path) }
  }

  package borrowing func setOwner(_ uid: UInt32, group gid: UInt32) throws(SystemError) {
    guard fchown(descriptor.number, uid, gid) == 0 else { throw .last("fchown", path: path) }
  }

  package borrowing func makeLink(_ name: String, to text: String) throws(SystemError) {
    // SAFETY: the kernel reads both texts during the call only.
    guard unsafe symlinkat(text, descriptor.number, name) == 0 else {
      throw .last("symlinkat", path: path(of: name))
    }
  }

  /// Renames an entry of this directory within it.
  /// - Parameter replacing: whether an entry of the new name is replaced; otherwise `EEXIST`.
  package borrowing func rename(
    _ name: String, to newName: String, replacing: Bool
  ) throws(SystemError) {
    // SAFETY: the kernel reads both names during the call only.
    let result = unsafe linux_rename(descriptor.number, name, newName, replacing)
    guard result == 0 else { throw .last("renameat2", path: path(of: newName)) }
  }

  /// Removes one entry that is not a directory. A missing entry is not an error.
  package borrowing func removeFile(_ name: String) throws(SystemError) {
    // SAFETY: the kernel reads the name during the call only.
    if unsafe unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT { return }
    throw .last("unlinkat", path: path(of: name))
  }

  /// Removes a directory that is empty; another is `ENOTEMPTY`.
  package borrowing func removeEmptyDirectory(_ name: String) throws(SystemError) {
    // SAFETY: the kernel reads the name during the call only.
    if unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) == 0 { return }
    throw .last("unlinkat", path: path(of: name))
  }

  /// Removes an entry with everything below it, following no link. A missing entry is not an error.
  /// - Parameter depth: how many levels of directories may lie below; more is `ELOOP`, so that a
  ///   hostile tree cannot exhaust the stack or the descriptors.
  package borrowing func removeTree(_ name: String, depth: Int = 64) throws(SystemError) {
    guard let status = try status(of: name) else { return }
    if status.kind != .directory { return try removeFile(name) }
    if depth == 0 { throw SystemError(code: ELOOP, operation: "remove", path: path(of: name)) }
    let inner = try openDirectory(name)
    for round in 1...Self.removalRounds {
      for entry in try inner.names() { try inner.removeTree(entry, depth: depth - 1) }
      // SAFETY: the kernel reads the name during the call only.
      if unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
      // Somebody who does not know yet that it goes may have put something into it meanwhile.
      if errno != ENOTEMPTY || round == Self.removalRounds {
        throw .last("unlinkat", path: path(of: name))
      }
    }
  }

  private static let removalRounds = 100

  /// Makes renames and removals in this directory survive a power cut (`fsync(2)`).
  package borrowing func sync() throws(SystemError) {
    let number = descriptor.number
    _ = try retryingInterrupts("fsync", path: path) { fsync(number) }
  }

  /// Makes files of this directory, and their names, survive a power cut. Many take one call for
  /// all that is in the file system (`syncfs(2)`), since each by itself waits for the disk.
  package borrowing func sync(files names: [String]) throws(SystemError) {
    if names.count > Self.mostSyncedAlone {
      let number = descriptor.number
      _ = try retryingInterrupts("syncfs", path: path) { linux_sync_file_system(number) }
      return
    }
    for name in names {
      let file = try openForReading(name)
      _ = try retryingInterrupts("fsync", path: path(of: name)) { fsync(file.number) }
    }
    try sync()
  }

  private static let mostSyncedAlone = 16
}

/// A name that no other process uses: a prefix and 64 random bits.
package func temporaryName(prefix: String) -> String {
  prefix + String(UInt64.random(in: .min ... .max), radix: 36)
}

extension Descriptor {
  /// Gives what this process has just made the permissions that it asked for, if the umask took
  /// some away. A confined process that may change none is content with fewer, and with the
  /// set-group-ID bit of the directory above.
  borrowing func widen(to mode: UInt32, path: String) throws(SystemError) {
    let given = try fileStatus(of: self, path: path).mode
    if given == mode || fchmod(number, mode_t(mode)) == 0 { return }
    if errno != EPERM || given & ~(mode | 0o2000) != 0 { throw .last("fchmod", path: path) }
  }

  /// Makes another user its owner, if it has another one.
  borrowing func give(to ownerID: UInt32, path: String) throws(SystemError) {
    if try fileStatus(of: self, path: path).ownerID == ownerID { return }
    if fchown(number, ownerID, .max) != 0 { throw .last("fchown", path: path) }
  }
}
