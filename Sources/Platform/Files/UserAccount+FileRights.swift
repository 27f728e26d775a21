import CLinuxShims
import Glibc

extension UserAccount {
  /// Runs work with this user's file rights on this thread (setfsuid(2)): a link leads only to what
  /// the user could reach itself, and new files are the user's. Takes CAP_SETUID and CAP_SETGID.
  package func withFileRights<Result>(
    _ work: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let own = [getegid()] + currentGroupIDs().subtracting([getegid()])
    defer {
      let error = Self.takeFileRights(geteuid(), own)
      precondition(error == 0, "a thread could not take back its file rights: errno \(error)")
    }
    let error = Self.takeFileRights(id, [groupID] + groupIDs.subtracting([groupID]))
    if error != 0 { throw SystemError(code: error, operation: "setfsuid", path: name) }
    return try work()
  }

  private static func takeFileRights(_ user: UInt32, _ groups: [UInt32]) -> Int32 {
    // SAFETY: the call reads as many groups as it is told of.
    unsafe groups.withUnsafeBufferPointer {
      unsafe linux_take_file_rights(user, $0.baseAddress, $0.count)
    }
  }
}
