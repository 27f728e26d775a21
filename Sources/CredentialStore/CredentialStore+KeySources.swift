import AppGroup
import Platform

/// The protection of the roles' keys, which only the host can change. Credentials do not change,
/// because the key stays the same. One rename replaces the key file.
extension CredentialStore {
  /// Changes how a role's key is protected.
  /// - Parameters:
  ///   - passphrase: the present passphrase of the role's key, if it has one. The host's own key
  ///     needs none.
  ///   - source: ``KeySource/systemd`` is accepted only in a process that has that systemd
  ///     credential, so that the key cannot be lost.
  public func changeKeySource(
    of role: Role, passphrase: borrowing SecretBytes? = nil, to source: borrowing KeySource
  ) throws(CredentialError) {
    try changeKeySource(of: role, passphrase: passphrase, to: source, cost: nil)
  }

  func changeKeySource(
    of role: Role, passphrase: borrowing SecretBytes?, to source: borrowing KeySource,
    cost: PassphraseCost?
  ) throws(CredentialError) {
    try requireHost()
    let lock = try files.lock()
    defer { lock.isHeldUntilHere() }
    let seed = try seed(of: role, passphrase: passphrase)
    switch source {
    case .handOver where role == .host:
      throw .invalid("the host's key cannot be handed over; choose another protection")
    case .systemd:
      guard let file = try SystemdKey.file(of: role, in: group),
        try RoleKeys(seed: file.seed(passphrase: passphrase)).publicKeys == head().roles[role]
      else {
        throw .invalid(
          "this process has no credential \(SystemdKey.name(of: role)) with the key of the role"
            + " \(role); create it from the output of --write-key, and run this in a unit that"
            + " loads it")
      }
    case .file:
      if let item = try index().items.values.first(where: {
        $0.accessibility == .whenUnlocked && $0.recipients.contains(role)
      }) {
        throw .keyInTheOpen(role, item.name)
      }
    default: break
    }
    let bytes = try KeyFile.bytes(
      seed, of: role, in: group.id, signer: signer, source: source,
      hostKey: keys.opening.publicKey, cost: cost)
    // The present file may be unlocked under its salt, which is about to be replaced.
    _ = try? Self.lock(role, in: group)
    try files.writeKey(
      bytes, of: role, access: role == .host ? nil : Self.accessList(of: role, 4, in: group))
  }

  /// An unprotected key file of a role, to be stored elsewhere, as with `systemd-creds encrypt`.
  public func keyFile(
    of role: Role, passphrase: borrowing SecretBytes? = nil
  ) throws(CredentialError) -> SecretBytes {
    try requireHost()
    return try KeyFile.bytes(
      seed(of: role, passphrase: passphrase), of: role, in: group.id, signer: signer,
      source: .file, hostKey: keys.opening.publicKey)
  }

  /// Throws if a recipient's key file is unprotected. For `whenUnlocked` credentials.
  func requireNoneInTheOpen(_ item: CredentialAttributes) throws(CredentialError) {
    for role in item.recipients {
      if try files.keyFile(of: role, in: group)?.isOpen != false {
        throw .keyInTheOpen(role, item.name)
      }
    }
  }

  /// The secret bytes of a role.
  func seed(
    of role: Role, passphrase: borrowing SecretBytes?
  ) throws(CredentialError) -> SecretBytes {
    guard let known = try head().roles[role] else {
      throw .notEntitled("the role \(role) has no key: no credential was ever granted to it")
    }
    // Unless the role's key was replaced since this store was opened.
    if role == self.role, keys.publicKeys == known { return try seed.copy() }
    guard let file = try files.keyFile(of: role, in: group) else {
      throw .tampered("the key file of the role \(role) is missing")
    }
    let found = try SystemdKey.file(of: role, in: group)
    let seed =
      if let found { try found.seed(passphrase: passphrase) } else {
        try file.seed(host: keys.opening, passphrase: passphrase)
      }
    guard file.signer == signer, try RoleKeys(seed: seed).publicKeys == known else {
      throw .tampered("the key of the role \(role), or the index, which has another key")
    }
    return seed
  }
}
