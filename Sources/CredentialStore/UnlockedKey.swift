import AppGroup
import Platform

/// An unlocked key: the kernel keeps it for the user until a timeout, during which no passphrase is
/// needed. It is found by the salt of its key file, so that a rewritten key file is locked.
enum UnlockedKey {
  static func name(_ role: Role, in group: String, salt: [UInt8]) -> String {
    "framebus:\(group):\(role):\(hexadecimal(salt))"
  }

  /// - Returns: nil if it is locked, or if the kernel's keyring is unavailable.
  static func seed(named name: String) throws(CredentialError) -> SecretBytes? {
    var count: Int?
    let seed = try SecretBytes(capacity: RoleKeys.seedBytes) { span throws(CredentialError) in
      count = try? UserKeyring.read(named: name, into: &span)
      return RoleKeys.seedBytes
    }
    if count != RoleKeys.seedBytes { return nil }
    return seed
  }

  static func refused(_ error: SystemError) -> CredentialError {
    .system(
      "the kernel's keyring is unavailable to this process (\(error)): a container or a seccomp"
        + " filter may forbid it; give the passphrase each time, or see `framebus doctor`")
  }
}

extension CredentialStore {
  /// The longest time for which a key can be unlocked: a week.
  public static let maximumUnlockedSeconds: UInt32 = 7 * 86400

  /// Lets processes of this user open the store in this role without its passphrase.
  /// - Parameter seconds: the duration, 1…``maximumUnlockedSeconds``.
  /// - Throws: ``CredentialError/system(_:)`` if the kernel's keyring is unavailable.
  public func unlock(seconds: UInt32) throws(CredentialError) {
    precondition((1...Self.maximumUnlockedSeconds).contains(seconds), "\(seconds) seconds")
    guard let name = try files.keyFile(of: role, in: group)?.unlockedName else {
      throw .invalid(
        "the key of the role \(role) has no passphrase, so there is nothing to unlock; see"
          + " `framebus credential protect`")
    }
    do {
      try seed.withBytes { bytes throws(SystemError) in
        try UserKeyring.keep(bytes, named: name, seconds: seconds)
      }
    } catch {
      throw UnlockedKey.refused(error)
    }
  }

  /// Reverses ``unlock(seconds:)``. It does not need the key.
  /// - Returns: false if the role's key was already locked.
  @discardableResult
  public static func lock(_ role: Role, in group: AppGroup) throws(CredentialError) -> Bool {
    do { try group.require(role) } catch { throw .notEntitled("\(error)") }
    let files = try StoreFiles(in: group, isMaking: false)
    guard let name = try files.keyFile(of: role, in: group)?.unlockedName else { return false }
    do { return try UserKeyring.remove(named: name) } catch { throw UnlockedKey.refused(error) }
  }
}
