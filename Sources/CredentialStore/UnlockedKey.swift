import AppGroup
import Platform

/// A key under a passphrase that was given not long ago: the kernel keeps it for the user until a
/// timeout, and no passphrase is asked for meanwhile. It is found by the salt of its key file, so
/// that a file that was written anew is locked.
enum UnlockedKey {
  static func name(_ role: Role, in group: String, salt: [UInt8]) -> String {
    "framebus:\(group):\(role):\(hexadecimal(salt))"
  }

  /// - Returns: nil if it is locked. So it is where the kernel keeps no keys.
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
      "the kernel keeps no key for this process (\(error)): a container or a seccomp filter may"
        + " forbid it; give the passphrase each time, or see `framebus doctor`")
  }
}

extension CredentialStore {
  /// The longest that a key stays unlocked: a week.
  public static let maximumUnlockedSeconds: UInt32 = 7 * 86400

  /// Lets the processes of this user open the store in this role without its passphrase.
  /// - Parameter seconds: for how long, 1…``maximumUnlockedSeconds``.
  /// - Throws: ``CredentialError/system(_:)`` where the kernel keeps no keys for this process.
  public func unlock(seconds: UInt32) throws(CredentialError) {
    precondition((1...Self.maximumUnlockedSeconds).contains(seconds), "\(seconds) seconds")
    guard let name = try files.keyFile(of: role, in: group)?.unlockedName else {
      throw .invalid(
        "the key of the role \(role) is under no passphrase, so there is nothing to unlock; see"
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

  /// Ends what ``unlock(seconds:)`` began. It needs no key.
  /// - Returns: false if the role's key was locked already.
  @discardableResult
  public static func lock(_ role: Role, in group: AppGroup) throws(CredentialError) -> Bool {
    do { try group.require(role) } catch { throw .notEntitled("\(error)") }
    let files = try StoreFiles(in: group, isMaking: false)
    guard let name = try files.keyFile(of: role, in: group)?.unlockedName else { return false }
    do { return try UserKeyring.remove(named: name) } catch { throw UnlockedKey.refused(error) }
  }
}
