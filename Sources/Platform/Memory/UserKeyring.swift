import CLinuxShims
import Glibc

/// Stores secrets with a timeout in the kernel's memory, which is never swapped: the user keyring
/// of keyrings(7), which all sessions of the user share.
///
/// A container or a seccomp filter may forbid it.
package enum UserKeyring {
  /// Stores a secret, replacing one of that name, for a number of seconds.
  package static func keep(
    _ secret: RawSpan, named name: String, seconds: UInt32
  ) throws(SystemError) {
    // Created in the process's keyring first: a process always possesses keys there, so it may set
    // up the key in any session. Nobody else sees it there before it has its timeout.
    // SAFETY: the kernel copies the text and the bytes during the call.
    let key = unsafe secret.withUnsafeBytes {
      unsafe linux_add_key(name, $0.baseAddress, $0.count, Int32(LINUX_PROCESS_KEYRING))
    }
    guard key >= 0 else { throw .last("add_key") }
    do throws(SystemError) {
      let permissions =
        UInt32(LINUX_KEY_POSSESSOR_ALL) | UInt32(LINUX_KEY_OWNER_VIEWS_READS_SEARCHES)
      try check("KEYCTL_SETPERM", linux_set_key_permissions(key, permissions))
      try check("KEYCTL_SET_TIMEOUT", linux_set_key_timeout(key, seconds))
      try check("KEYCTL_LINK", linux_link_key(key, Int32(LINUX_USER_KEYRING)))
    } catch {
      _ = linux_invalidate_key(key)
      throw error
    }
  }

  /// Copies a secret.
  /// - Returns: its number of bytes; nil if it is missing or larger than the span.
  package static func read(
    named name: String, into span: inout MutableRawSpan
  ) throws(SystemError) -> Int? {
    guard let key = try find(name) else { return nil }
    // SAFETY: the kernel writes at most the span's own length.
    let count = unsafe span.withUnsafeMutableBytes {
      unsafe linux_read_key(key, $0.baseAddress, $0.count)
    }
    // It may have expired since it was found.
    if count < 0, isEnd(errno) { return nil }
    guard count >= 0 else { throw .last("KEYCTL_READ") }
    return count <= span.byteCount ? count : nil
  }

  /// Removes a secret for all processes.
  /// - Returns: false if there was no such secret.
  package static func remove(named name: String) throws(SystemError) -> Bool {
    guard let key = try find(name) else { return false }
    try check("KEYCTL_INVALIDATE", linux_invalidate_key(key))
    return true
  }

  /// Why the keyring is unavailable to this process; nil if it is available.
  package static var refusal: SystemError? {
    do throws(SystemError) {
      _ = try find("framebus:probe")
      return nil
    } catch { return error }
  }

  private static func find(_ name: String) throws(SystemError) -> Int32? {
    // SAFETY: the kernel copies the text during the call.
    let key = unsafe linux_search_key(Int32(LINUX_USER_KEYRING), name)
    if key >= 0 { return key }
    if isEnd(errno) { return nil }
    throw .last("KEYCTL_SEARCH")
  }

  /// Whether the error means that the key is missing or has expired.
  private static func isEnd(_ code: Int32) -> Bool {
    code == ENOKEY || code == EKEYEXPIRED || code == EKEYREVOKED
  }

  private static func check(_ operation: String, _ result: Int32) throws(SystemError) {
    if result < 0 { throw .last(operation) }
  }
}
