import CLinuxShims
import Glibc

/// An account of this machine, found by UID: never by `$HOME`, `$USER` or `$XDG_…`, which differ
/// between the desktop, ssh and cron.
package struct UserAccount: Hashable, Sendable {
  package let id: UInt32
  package let groupID: UInt32
  package let name: String
  package let home: String

  /// Nil if the user database has no such user.
  package static func find(_ uid: UInt32) -> UserAccount? {
    var record = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer: [CChar] = Array(repeating: 0, count: databaseBufferBytes)
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

  /// The user's groups in the user database, including the primary one.
  package var groupIDs: Set<UInt32> {
    var ids: [UInt32] = Array(repeating: 0, count: 256)
    var count = Int32(ids.count)
    // SAFETY: the call writes at most `count` IDs, which is the array's length, and the number it
    // found to `count`.
    let result = unsafe ids.withUnsafeMutableBufferPointer {
      unsafe getgrouplist(name, groupID, $0.baseAddress, &count)
    }
    return Set(result < 0 ? ids[...] : ids[..<Int(count)])
  }
}

private let databaseBufferBytes = 65536

/// Whether the user is the group's only member: then files writable by the group are writable only
/// by the user. Debian, Ubuntu and Fedora give every user such a group and a umask that lets it
/// write.
func isPrivateGroup(_ gid: UInt32, of uid: UInt32) -> Bool {
  guard let user = UserAccount.find(uid), user.groupID == gid else { return false }
  var record = unsafe group()
  var found: UnsafeMutablePointer<group>?
  var buffer: [CChar] = Array(repeating: 0, count: databaseBufferBytes)
  let count = buffer.count
  // SAFETY: as in `UserAccount.find`; the list of members ends with a null pointer.
  return unsafe buffer.withUnsafeMutableBufferPointer { bytes in
    guard let start = bytes.baseAddress,
      unsafe getgrgid_r(gid, &record, start, count, &found) == 0, unsafe found != nil,
      unsafe String(cString: record.gr_name) == user.name, var member = unsafe record.gr_mem
    else { return false }
    while let name = unsafe member.pointee {
      if unsafe String(cString: name) != user.name { return false }
      unsafe member += 1
    }
    return true
  }
}

/// A user for display: `uid 1000 (alice)`.
package func userText(_ uid: UInt32) -> String {
  UserAccount.find(uid).map { "uid \(uid) (\($0.name))" } ?? "uid \(uid)"
}

/// The user whose permissions this process has (`geteuid(2)`).
package func currentUserID() -> UInt32 { geteuid() }

/// All groups whose permissions this process has (`getgroups(2)`).
package func currentGroupIDs() -> Set<UInt32> {
  var ids: [gid_t] = Array(repeating: 0, count: 65536)
  // SAFETY: the kernel writes at most the array's own length.
  let count = unsafe ids.withUnsafeMutableBufferPointer {
    unsafe getgroups(Int32($0.count), $0.baseAddress)
  }
  return Set(ids[..<max(0, Int(count))]).union([getegid()])
}

/// An environment variable; nil if it is unset or empty.
package func environmentValue(_ name: String) -> String? {
  // SAFETY: the returned text is copied at once; nothing in this project changes the environment.
  guard let text = unsafe getenv(name), unsafe text.pointee != 0 else { return nil }
  return unsafe String(cString: text)
}

/// The current directory (`getcwd(3)`).
package func currentDirectoryPath() throws(SystemError) -> String {
  var bytes: [CChar] = Array(repeating: 0, count: Int(PATH_MAX))
  // SAFETY: the call writes at most the array's own length and ends the text with a zero.
  return try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
    guard let text = unsafe getcwd(buffer.baseAddress, buffer.count) else {
      throw .last("getcwd")
    }
    return unsafe String(cString: text)
  }
}

/// The ID of the current boot: 16 bytes, zeros if the kernel does not provide it (random(4)).
package func bootID() -> [UInt8] {
  guard let directory = try? Directory(path: "/proc/sys/kernel/random"),
    let text = try? directory.readFile("boot_id", limit: 64)
  else { return Array(repeating: 0, count: 16) }
  let digits = text.bytes.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
  guard digits.count == 32 else { return Array(repeating: 0, count: 16) }
  return (0..<16).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) }
}

/// A name of this machine that is stable while it runs: `/etc/machine-id` (machine-id(5)), or else
/// the host name.
package func machineName() -> String {
  if let directory = try? Directory(path: "/etc"),
    let text = try? directory.readFile("machine-id", limit: 128)
  {
    let digits = String(decoding: text.bytes, as: UTF8.self).filter { $0.isHexDigit }
    if digits.count == 32 { return digits }
  }
  return hostName()
}

/// The host name, without slashes.
package func hostName() -> String {
  var bytes: [CChar] = Array(repeating: 0, count: 256)
  // SAFETY: the call is told the array's length less the zero that ends the text.
  let result = unsafe bytes.withUnsafeMutableBufferPointer { buffer -> Int32 in
    guard let start = buffer.baseAddress else { return -1 }
    return unsafe gethostname(start, buffer.count - 1)
  }
  if result != 0 { return "host" }
  let name = bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
  return String(decoding: name, as: UTF8.self).filter { $0 != "/" }
}
