import CNotifyLayout
import Platform

/// Where things are in a user's directory of seats.
enum SeatFile {
  /// The words: written by its user, read by posters.
  static let name = "seats"
  /// The lock on byte s is seat s. A file that only its user can open, because whoever can open a
  /// file can lock it.
  static let lockName = "lock"

  static func offset(ofSeat seat: Int) -> Int { Int(NC_AT_SEATS) + seat * Int(NC_SEAT_BYTES) }

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
    // SYNC make/open: nobody finds the directory before its rename.
    memory.storeReleasing32(UInt32(NC_ABI_VERSION), at: Int(NC_AT_ABI_VERSION))
    memory.storeReleasing64(NC_SEATS_MAGIC, at: Int(NC_AT_MAGIC))
  }
}
