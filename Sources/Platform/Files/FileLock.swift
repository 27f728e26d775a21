import CLinuxShims
import Glibc

/// An exclusive lock on a file (an open file description lock, fcntl(2)), held while the value
/// exists. The kernel releases it when the process dies.
package struct FileLock: ~Copyable, Sendable {
  /// The locked file itself, for reading and writing.
  let file: Descriptor

  /// Takes the lock on a file of a directory.
  /// - Parameter isMaking: whether to create a missing file (mode 0600).
  /// - Returns: nil if another process holds it until the deadline.
  /// - Throws: `EPERM` unless the entry is a regular file of `ownerID`.
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
        // Just created on behalf of the owner.
        if fchown(file.number, ownerID, .max) != 0 { throw .last("fchown", path: path) }
        status = try fileStatus(of: file, path: path)
      }
      guard status.kind == .file, status.ownerID == ownerID, status.linkCount <= 1 else {
        throw SystemError(code: EPERM, operation: "lock", path: path)
      }
      if try !file.lockWhole(until: deadline, path: path) { return nil }
      // A lock on a removed file excludes nobody.
      if try directory.status(of: name)?.inode == status.inode { return FileLock(file: file) }
    }
  }

  private init(file: consuming Descriptor) { self.file = file }

  // Closing alone is not enough: a child that another thread is starting has the file open until
  // its exec.
  deinit { linux_unlock(file.number) }

  /// Whether the name still refers to the locked file.
  package borrowing func isOfFile(_ name: String, in directory: borrowing Directory) -> Bool {
    guard let held = try? fileStatus(of: file, path: name) else { return false }
    return (try? directory.status(of: name))??.inode == held.inode
  }

  /// Call in a `defer` to keep the lock until the end of the scope.
  package borrowing func isHeldUntilHere() {}
}

extension Descriptor {
  /// Locks one byte of the file, which may lie beyond its end. Held until it is unlocked, or until
  /// all processes with this open file description have closed it or died.
  /// - Returns: false if another open file description, in this process or another, holds it.
  package borrowing func lockByte(_ offset: Int) throws(SystemError) -> Bool {
    if linux_lock_byte(number, Int64(offset)) == 0 { return true }
    if errno == EAGAIN || errno == EACCES { return false }
    throw .last("fcntl F_OFD_SETLK")
  }

  /// Locks a file for writing through this open file description. Has no effect on a file system
  /// without locks.
  borrowing func lockForWriting(path: String) throws(SystemError) {
    if (try? lockByte(0)) == false { throw .busy(path: path) }
  }

  package borrowing func unlockByte(_ offset: Int) { _ = linux_unlock_byte(number, Int64(offset)) }
}

/// Whether another process holds a lock on the file, without touching the lock.
package func isLockedByAnother(_ file: borrowing Descriptor) -> Bool {
  linux_is_locked(file.number)
}
