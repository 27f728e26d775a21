import CNotifyLayout
import Platform

/// Layout of a user's directory of registrations.
enum RegistrationFile {
  /// Registrations: written by their user, read by posters.
  static let name = "seats"
  /// A lock on byte s owns registration s. Only its user can open the file, because a process that
  /// can open a file can lock it.
  static let lockName = "lock"

  static func offset(ofRegistration index: Int) -> Int {
    Int(NC_AT_SEATS) + index * Int(NC_SEAT_BYTES)
  }

  @inline(__always)
  static func offset(ofRow row: Int, word: Int) -> Int {
    Int(NC_AT_OBSERVED) + (row * Int(NC_SEAT_WORDS) + word) * 8
  }

  /// Fills a new directory.
  static func make(in directory: borrowing Directory) throws(SystemError) {
    _ = try directory.makeFile(lockName, byteCount: Int(NC_SEATS), mode: 0o600)
    let file = try directory.makeFile(name, byteCount: Int(NC_AT_OBSERVED), mode: 0o640)
    try file.setByteCount(Int(NC_SEATS_BYTES))
    let memory = try GuardedMapping(file, byteCount: Int(NC_SEATS_BYTES))
    // SYNC make/open: no other process finds the directory before its rename.
    memory.storeReleasing32(UInt32(NC_ABI_VERSION), at: Int(NC_AT_ABI_VERSION))
    memory.storeReleasing64(NC_SEATS_MAGIC, at: Int(NC_AT_MAGIC))
  }
}
