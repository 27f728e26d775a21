import Glibc

/// An account of this machine, found by number: never by `$HOME`, `$USER` or `$XDG_…`, which
/// differ between the desktop, ssh and cron.
package struct UserAccount: Hashable, Sendable {
  package let id: UInt32
  package let groupID: UInt32
  package let name: String
  package let home: String

  /// Nil if the user database has no such user.
  package static func find(_ uid: UInt32) -> UserAccount? {
    var record = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer: [CChar] = Array(repeating: 0, count: 16384)
    // SAFETY: the record's pointers point into the buffer, which lives until both strings are
    // copied; `getpwuid_r` is told its true size.
    let count = buffer.count
    return unsafe buffer.withUnsafeMutableBufferPointer { bytes in
      guard let start = bytes.baseAddress,
        unsafe getpwuid_r(uid, &record, start, count, &found) == 0, unsafe found != nil
      else { return nil }
      return unsafe UserAccount(
        id: uid, groupID: record.pw_gid, name: String(cString: record.pw_name),
        home: String(cString: record.pw_dir))
    }
  }
}

/// The user whose permissions this process has (`geteuid(2)`).
package func currentUserID() -> UInt32 { geteuid() }
package func currentGroupID() -> UInt32 { getegid() }

/// A variable of the environment; nil if it is unset or empty.
package func environmentValue(_ name: String) -> String? {
  // SAFETY: the returned text is copied at once; nothing in this project changes the environment.
  guard let text = unsafe getenv(name), unsafe text.pointee != 0 else { return nil }
  return unsafe String(cString: text)
}
