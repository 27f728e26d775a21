import AppGroup
import Platform

/// A role's secret key as a process of that role finds it.
struct RoleKey: ~Copyable {
  let seed: SecretBytes
  /// The public key that must verify the index.
  let signer: [UInt8]
  /// Whether the key is in an unprotected file of the store.
  var isInTheOpen = false

  /// Searches a systemd credential, then the role's key file.
  /// - Returns: nil if the role has no key.
  static func find(
    of role: Role, in group: AppGroup, _ files: borrowing StoreFiles,
    passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> RoleKey? {
    if let file = try SystemdKey.file(of: role, in: group) {
      return RoleKey(seed: try file.seed(passphrase: passphrase), signer: file.signer)
    }
    guard let file = try files.keyFile(of: role, in: group) else { return nil }
    return RoleKey(
      seed: try file.seed(passphrase: passphrase), signer: file.signer, isInTheOpen: file.isOpen)
  }
}

/// A role's key file among the credentials of a systemd service. systemd decrypts it into memory
/// when the service starts, readable by the service's user only (systemd.exec(5),
/// systemd-creds(1)).
enum SystemdKey {
  static func name(of role: Role) -> String { "framebus.\(role).key" }

  /// - Returns: nil if it does not exist or belongs to another group.
  static func file(of role: Role, in group: AppGroup) throws(CredentialError) -> KeyFile? {
    guard let path = environmentValue("CREDENTIALS_DIRECTORY"),
      let directory = try? Directory(path: path)
    else { return nil }
    let name = name(of: role)
    guard let read = try StoreFiles.readSecret(name, in: directory) else { return nil }
    let file = directory.path(of: name)
    let own: Set = [0, currentUserID()]
    let status = try CredentialError.attempt(directory.status())
    do { try status.requireTrusted(path: path, own) } catch {
      throw .untrusted(path: path, why: error.problem)
    }
    guard own.contains(read.status.ownerID) else {
      throw .untrusted(path: file, why: "it belongs to \(userText(read.status.ownerID))")
    }
    // systemd sets an access control list, whose mask appears as the group bits (acl(5)).
    if read.status.mode & 0o027 != 0 {
      throw .untrusted(path: file, why: "others can read it (mode \(octal(read.status.mode)))")
    }
    let parsed = try KeyFile(parsing: read.bytes)
    guard parsed.group == group.id.description else { return nil }
    guard parsed.role == role else { throw .invalid("\(file) is the key of \(parsed.role)") }
    return parsed
  }
}
