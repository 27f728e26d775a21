import Glibc

/// The result of `fstat(2)`: the properties that decide whether a file is trusted.
package struct FileStatus: Hashable, Sendable {
  package enum Kind: String, Sendable {
    case file, directory
    case symbolicLink = "symbolic link"
    case socket, fifo
    case device
  }
  package let kind: Kind
  package let ownerID: UInt32
  package let groupID: UInt32
  /// The permission bits, with set-id and sticky bits.
  package let mode: UInt32
  package let byteCount: Int
  package let linkCount: Int
  /// With `inode`, the identity of the file on this machine.
  package let device: UInt64
  package let inode: UInt64
  package let changedAtNs: Int64

  init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      case S_IFSOCK: .socket
      case S_IFIFO: .fifo
      default: .device
      }
    ownerID = status.st_uid
    groupID = status.st_gid
    mode = UInt32(status.st_mode) & 0o7777
    byteCount = Int(status.st_size)
    linkCount = Int(status.st_nlink)
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    changedAtNs = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
  }

  package var isSticky: Bool { mode & 0o1000 != 0 }
  /// Whether users other than the owner may write: the group (or an access control list, whose
  /// mask shows as the group's bits) or everybody.
  package var isWritableByGroup: Bool { mode & 0o020 != 0 }
  package var isWritableByEverybody: Bool { mode & 0o002 != 0 }
}

/// The permission bits as `ls` and `chmod` write them, such as `0755`.
package func octal(_ mode: UInt32) -> String {
  let digits = String(mode, radix: 8)
  return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
