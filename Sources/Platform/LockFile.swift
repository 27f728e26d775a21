import CLinuxShims
import Glibc

/// An exclusive lock on a file that exists for nothing else: an open file description lock
/// (`fcntl(2)`, F_OFD_SETLK), which the kernel ends when the owner goes, however it goes. The file
/// is never unlinked, so that all who lock the path lock the same file.
package struct LockFile: ~Copyable, Sendable {
  private let descriptor: Descriptor

  /// - Returns: nil while somebody else holds the lock.
  package init?(_ path: String) throws(SystemError) {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let number = try retryingInterrupts("open", path: path) {
      unsafe open(path, flags, 0o600)
    }
    let descriptor = Descriptor(owning: number)
    while linux_lock_exclusively(number) != 0 {
      if errno == EACCES || errno == EAGAIN { return nil }
      if errno != EINTR { throw .last("fcntl F_OFD_SETLK", path: path) }
    }
    // A lock on a file that the path no longer leads to excludes nobody.
    var locked = stat()
    var named = stat()
    guard unsafe fstat(number, &locked) == 0, unsafe lstat(path, &named) == 0,
      locked.st_ino == named.st_ino, locked.st_dev == named.st_dev
    else { return nil }
    self.descriptor = descriptor
  }
}
