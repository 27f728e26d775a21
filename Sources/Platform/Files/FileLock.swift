import CLinuxShims
import Glibc

/// An exclusive lock on a file (an open file description lock, fcntl(2)): held while this lives,
/// and let go by the kernel when the process dies, however it dies.
package struct FileLock: ~Copyable, Sendable {
  /// The locked file itself, for reading and writing.
  let file: Descriptor

  /// Takes the lock on a file of a directory.
  /// - Parameter isMaking: makes the file (mode 0600) if it is missing.
  /// - Returns: nil if another process holds it until the deadline.
  /// - Throws: `EPERM` if what lies there is no plain file of `ownerID`.
  package static func take(
    _ name: String, in directory: borrowing Directory, ownerID: UInt32, isMaking: Bool = true,
    until deadline: Deadline
  ) throws(SystemError) -> FileLock? {
    let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (isMaking ? O_CREAT : 0)
    let path = directory.path(of: name)
    while true {
      let file = try directory.open(name, flags: flags, mode: 0o600)
      var status = try fileStatus(of: file, path: path)
      if status.kind == .file, status.ownerID == currentUserID(), status.ownerID != ownerID {
        // Made just now on behalf of the owner.
        if fchown(file.number, ownerID, .max) != 0 { throw .last("fchown", path: path) }
        status = try fileStatus(of: file, path: path)
      }
      guard status.kind == .file, status.ownerID == ownerID, status.linkCount <= 1 else {
        throw SystemError(code: EPERM, operation: "lock", path: path)
      }
      if try !file.lockWhole(until: deadline, path: path) { return nil }
      // A lock on a file that is no longer there excludes nobody.
      if try directory.status(of: name)?.inode == status.inode { return FileLock(file: file) }
    }
  }

  private init(file: consuming Descriptor) { self.file = file }

  // Closing alone would not do: a child that another thread starts just now has the file open too,
  // until its exec.
  deinit { linux_unlock(file.number) }

  /// Whether the file that it locks is still the one of that name.
  package borrowing func isOfFile(_ name: String, in directory: borrowing Directory) -> Bool {
    guard let held = try? fileStatus(of: file, path: name) else { return false }
    return (try? directory.status(of: name))??.inode == held.inode
  }

  /// Called in a `defer`, says in code until where the lock is held.
  package borrowing func isHeldUntilHere() {}
}

extension Descriptor {
  /// Takes a lock on one byte of the file, which need not be there; held until it is ended, or the
  /// last process that has this very open file dies or closes it.
  /// - Returns: false if another opening of the file, in this process or another, holds it.
  package borrowing func lockByte(_ offset: Int) throws(SystemError) -> Bool {
    if linux_lock_byte(number, Int64(offset)) == 0 { return true }
    if errno == EAGAIN || errno == EACCES { return false }
    throw .last("fcntl F_OFD_SETLK")
  }

  /// Keeps a file that is written to for this opening of it. On a file system without locks nobody
  /// can.
  borrowing func lockForWriting(path: String) throws(SystemError) {
    if (try? lockByte(0)) == false { throw .busy(path: path) }
  }

  package borrowing func unlockByte(_ offset: Int) { _ = linux_unlock_byte(number, Int64(offset)) }
}

/// Whether another process holds a lock on the file, without touching the lock.
package func isLockedByAnother(_ file: borrowing Descriptor) -> Bool {
  linux_is_locked(file.number)
}
