import AppGroup
import Platform

/// Where the roles' keys are kept, which the host decides. No credential changes by it: it is the
/// same key in another place, put there by one rename.
extension CredentialStore {
  /// Keeps a role's key in another place.
  /// - Parameters:
  ///   - passphrase: of the role's key as it is, if it has one; the host's own is not asked for.
  ///   - source: ``KeySource/systemd`` only in a process that has that credential already, so that
  ///     the key is not lost.
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
      throw .invalid("nobody hands the host its key; choose another place for it")
    case .systemd:
      guard let file = try SystemdKey.file(of: role, in: group),
        try RoleKeys(seed: file.seed(passphrase: passphrase)).publicKeys == index().roles[role]
      else {
        throw .invalid(
          "this process has no credential \(SystemdKey.name(of: role)) with the key of the role"
            + " \(role); make it of what --write-key writes, and run this in a unit that loads it")
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
    // The file as it is may be unlocked: its salt is about to go.
    _ = try? Self.lock(role, in: group)
    try files.writeKey(
      bytes, of: role, access: role == .host ? nil : Self.accessList(of: role, 4, in: group))
  }

  /// A role's key file in the open, to be kept elsewhere: by `systemd-creds encrypt`, say.
  public func keyFile(
    of role: Role, passphrase: borrowing SecretBytes? = nil
  ) throws(CredentialError) -> SecretBytes {
    try requireHost()
    return try KeyFile.bytes(
      seed(of: role, passphrase: passphrase), of: role, in: group.id, signer: signer,
      source: .file, hostKey: keys.opening.publicKey)
  }

  /// Refuses to seal what opens only when unlocked for a role whose key anybody can copy.
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
    guard let known = try index().roles[role] else {
      throw .notEntitled("the role \(role) has no key: no credential was ever granted to it")
    }
    // Unless the role has got another key since.
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
      throw .tampered("the key of the role \(role), or the index, which names another")
    }
    return seed
  }
}
