import CLinuxShims
import Glibc

/// A POSIX access control list (acl(5)): the permissions of further users and groups for a
/// directory or file. Modes support only one group, but several UIDs and GIDs may have a role.
package struct AccessList: Hashable, Sendable {
  /// Permission bits as in a digit of a mode: 4 read, 2 write, 1 search.
  package typealias Permissions = UInt16

  package var owner: Permissions
  package var users: [UInt32: Permissions]
  package var groups: [UInt32: Permissions]

  package init(owner: Permissions, users: [UInt32: Permissions], groups: [UInt32: Permissions]) {
    self.owner = owner
    self.users = users
    self.groups = groups
  }

  /// Whether only the owner has permissions, which a mode can express.
  package var isPlain: Bool { users.isEmpty && groups.isEmpty }

  /// The list with one user's permissions added; a plain list stays plain.
  package func naming(_ uid: UInt32, _ permissions: Permissions) -> AccessList {
    if isPlain { return self }
    var list = self
    list.users[uid] = permissions
    return list
  }

  /// The maximum permissions of anyone except the owner.
  package var mask: Permissions { users.values.reduce(0, |) | groups.values.reduce(0, |) }

  // The kernel's format (linux/posix_acl_xattr.h): version 2, then entries of tag, permissions
  // and ID, little endian, in the order of the tags.
  private static let version: UInt32 = 2
  private enum Tag {
    static let owner: UInt16 = 0x01
    static let user: UInt16 = 0x02
    static let owningGroup: UInt16 = 0x04
    static let group: UInt16 = 0x08
    static let mask: UInt16 = 0x10
    static let others: UInt16 = 0x20
  }

  /// The bytes of the extended attribute.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func append(_ tag: UInt16, _ permissions: UInt16, id: UInt32 = .max) {
      bytes.append(littleEndian: tag)
      bytes.append(littleEndian: permissions)
      bytes.append(littleEndian: id)
    }
    bytes.append(littleEndian: Self.version)
    append(Tag.owner, owner)
    for (id, permissions) in users.sorted(by: { $0.key < $1.key }) {
      append(Tag.user, permissions, id: id)
    }
    append(Tag.owningGroup, 0)
    for (id, permissions) in groups.sorted(by: { $0.key < $1.key }) {
      append(Tag.group, permissions, id: id)
    }
    append(Tag.mask, mask)
    append(Tag.others, 0)
    return bytes
  }

  package enum Use: String, Sendable {
    /// The permissions for the file itself.
    case access = "system.posix_acl_access"
    /// The permissions of new entries of the directory.
    case inherited = "system.posix_acl_default"
  }
}

extension Descriptor {
  /// Sets or, for a plain list, removes an access control list.
  /// - Throws: `EOPNOTSUPP` if the file system does not support lists.
  package borrowing func setAccess(
    _ list: AccessList, _ use: AccessList.Use, path: String
  ) throws(SystemError) {
    let number = self.number
    if list.isPlain {
      // SAFETY: the kernel reads the name during the call only.
      if unsafe fremovexattr(number, use.rawValue) == 0 { return }
      if errno == ENODATA || errno == EOPNOTSUPP { return }
      throw .last("fremovexattr \(use.rawValue)", path: path)
    }
    let bytes = list.bytes
    // SAFETY: the kernel reads the name and exactly the array's bytes during the call only.
    let result = unsafe bytes.withUnsafeBytes {
      unsafe fsetxattr(number, use.rawValue, $0.baseAddress, $0.count, 0)
    }
    if result != 0 { throw .last("fsetxattr \(use.rawValue)", path: path) }
  }

  /// The bytes of an access control list; nil without a list.
  package borrowing func accessBytes(
    _ use: AccessList.Use, path: String
  ) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = Array(repeating: 0, count: 65536)
    let number = self.number
    // SAFETY: the kernel writes at most the array's own length.
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe fgetxattr(number, use.rawValue, $0.baseAddress, $0.count)
    }
    if count >= 0 { return Array(bytes[..<count]) }
    if errno == ENODATA || errno == EOPNOTSUPP { return nil }
    throw .last("fgetxattr \(use.rawValue)", path: path)
  }
}

extension Directory {
  /// Sets the access control list of a regular file of this directory, unless it already has it.
  /// Does nothing if the file is missing.
  package borrowing func setAccess(
    _ list: AccessList, ofFile name: String
  ) throws(SystemError) {
    guard try status(of: name) != nil else { return }
    let file = try open(name, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    let path = path(of: name)
    let wanted = list.isPlain ? nil : list.bytes
    if try file.accessBytes(.access, path: path) == wanted { return }
    try file.setAccess(list, .access, path: path)
    // Without a list, its former mask becomes the group's permissions.
    if list.isPlain, fchmod(file.number, mode_t(list.owner) << 6) != 0 {
      throw .last("fchmod", path: path)
    }
  }
}
