import AppGroup
import Platform

/// Operations that only the host may perform.
extension CredentialStore {
  /// Creates a credential.
  /// - Throws: ``CredentialError/duplicate(_:)`` if one of that name exists.
  public func add(
    _ name: CredentialName, _ secret: borrowing SecretBytes,
    options: CredentialOptions = CredentialOptions()
  ) throws(CredentialError) {
    try requireValid(secret, options)
    try change(.add, name) { draft throws(CredentialError) in
      if draft.index.items[name] != nil { throw .duplicate(name) }
      try seal(secret, made(name, options, replacing: nil), &draft)
    }
  }

  /// Creates many credentials with the same secret in one change.
  package func add(
    _ names: [CredentialName], _ secret: borrowing SecretBytes, options: CredentialOptions
  ) throws(CredentialError) {
    try requireValid(secret, options)
    try change(.add) { draft throws(CredentialError) in
      for name in names {
        if draft.index.items[name] != nil { throw .duplicate(name) }
        try seal(secret, made(name, options, replacing: nil), &draft)
      }
      return names
    }
  }

  /// Creates a credential, or replaces the one of that name, including its attributes and
  /// recipients.
  public func set(
    _ name: CredentialName, _ secret: borrowing SecretBytes,
    options: CredentialOptions = CredentialOptions()
  ) throws(CredentialError) {
    try requireValid(secret, options)
    try change(.set, name) { draft throws(CredentialError) in
      try seal(secret, made(name, options, replacing: draft.index.items[name]), &draft)
    }
  }

  /// Replaces a credential's secret. Label, comment, expiry and recipients do not change.
  public func update(
    _ name: CredentialName, _ secret: borrowing SecretBytes
  ) throws(CredentialError) {
    try requireValid(secret, CredentialOptions())
    try change(.update, name) { draft throws(CredentialError) in
      try seal(secret, try draft.item(name), &draft)
    }
  }

  /// Removes a credential.
  public func remove(_ name: CredentialName) throws(CredentialError) {
    try change(.remove, name) { draft throws(CredentialError) in
      draft.removed.append(try draft.item(name))
      draft.index.items[name] = nil
    }
  }

  /// Makes a role a recipient of a credential.
  public func grant(_ role: Role, _ name: CredentialName) throws(CredentialError) {
    try reseal(.grant, name) { $0.insert(role) }
  }

  /// Reseals a credential with a new data key and without the role. The role may have read the
  /// secret before, so the secret itself must be changed at its service.
  public func revoke(_ role: Role, _ name: CredentialName) throws(CredentialError) {
    if role == .host {
      throw .invalid("the host seals the credentials and can therefore always open them")
    }
    try reseal(.revoke, name) { $0.remove(role) }
  }

  /// Gives the present store a higher generation than any that a role has seen.
  func acceptRestore() throws(CredentialError) {
    let lock = try files.lock()
    defer { lock.isHeldUntilHere() }
    var index = try index()
    var seen = max(index.generation, files.anchor() ?? 0)
    for role in index.roles.keys {
      for record in try auditLog(of: role) { seen = max(seen, record.generation) }
    }
    try log(.acceptRestore, .done, nil, generation: index.generation)
    index.generation = seen + 1
    try replaceIndex(index)
  }

  /// Reseals a credential with a new data key for the same recipients, so that the old data key
  /// does not open the new file.
  public func rotate(_ name: CredentialName) throws(CredentialError) {
    try reseal(.rotate, name) { _ in }
  }

  // MARK: Changes

  /// A change in preparation: the new index, the files written for it, and the items that it makes
  /// obsolete.
  struct Draft {
    var index: StoreIndex
    var written: [String] = []
    var removed: [CredentialAttributes] = []

    func item(_ name: CredentialName) throws(CredentialError) -> CredentialAttributes {
      guard let item = index.items[name] else { throw .notFound(name) }
      return item
    }
  }

  /// Makes one change under the lock. The change takes effect when the new index replaces the old
  /// one. Obsolete items are removed after that.
  /// - Parameter body: writes the new items, and returns the names to record in the log.
  func change(
    _ verb: AuditRecord.Verb, _ body: (inout Draft) throws(CredentialError) -> [CredentialName?]
  ) throws(CredentialError) {
    try requireHost()
    let lock = try files.lock()
    defer { lock.isHeldUntilHere() }
    let before = try index()
    // Checked before anything is removed or replaced.
    try requireNewest(before.generation)
    var draft = Draft(index: before)
    draft.index.generation += 1
    try files.sweep(keeping: before.items.values, generation: before.generation)
    try renewAccess(of: before.roles.keys)
    do {
      let names = try body(&draft)
      try files.syncItems(draft.written)
      // Every change is logged before it takes effect.
      for name in names { try log(verb, .done, name, generation: before.generation) }
    } catch {
      for file in draft.written { try? files.items.removeFile(file) }
      throw error
    }
    try replaceIndex(draft.index)
    try CredentialError.attempt { () throws(SystemError) in
      for item in draft.removed { try files.items.removeFile(item.fileName) }
    }
  }

  /// - Parameter name: nil for a change of the store as a whole.
  func change(
    _ verb: AuditRecord.Verb, _ name: CredentialName?,
    _ body: (inout Draft) throws(CredentialError) -> Void
  ) throws(CredentialError) {
    try change(verb) { draft throws(CredentialError) in
      try body(&draft)
      return [name]
    }
  }

  private func reseal(
    _ verb: AuditRecord.Verb, _ name: CredentialName, _ body: (inout Set<Role>) -> Void
  ) throws(CredentialError) {
    try change(verb, name) { draft throws(CredentialError) in
      var item = try draft.item(name)
      let secret = try opened(item, draft.index.head)
      var recipients = Set(item.recipients)
      body(&recipients)
      item.recipients = recipients.sorted()
      try seal(secret, item, &draft)
    }
  }

  /// Seals a secret as the next generation of an item, in a file that is not used until the index
  /// names it.
  func seal(
    _ secret: borrowing SecretBytes, _ item: CredentialAttributes, _ draft: inout Draft
  ) throws(CredentialError) {
    var item = item
    item.generation = draft.index.generation
    item.changedAtSeconds = wallNowSeconds()
    if item.recipients.count > CredentialAttributes.maximumRecipients {
      throw .invalid(
        "\(item.name) already has \(CredentialAttributes.maximumRecipients) recipients")
    }
    var recipientKeys: [[UInt8]] = []
    for role in item.recipients {
      // A new role gets a key that a `whenUnlocked` credential can be sealed for.
      let source: KeySource = item.accessibility == .always ? .file : .handOver
      recipientKeys.append(try publicKey(of: role, &draft.index, newIn: source))
    }
    if item.accessibility == .whenUnlocked { try requireNoneInTheOpen(item) }
    if let old = draft.index.items[item.name] { draft.removed.append(old) }
    draft.index.items[item.name] = item
    if draft.index.items.count > Format.maximumItems {
      throw .invalid("a group has at most \(Format.maximumItems) credentials")
    }
    let bytes = try SealedRecord.seal(
      secret, item, in: group.id, recipientKeys: recipientKeys, signing: keys.signing)
    draft.written.append(item.fileName)
    try files.writeItem(item.fileName, bytes)
  }

  /// The public key of a role. A role gets its keys at the first grant or hand-over to it.
  func publicKey(
    of role: Role, _ index: inout StoreIndex, newIn source: borrowing KeySource
  ) throws(CredentialError) -> [UInt8] {
    if let keys = index.roles[role] { return keys.opening }
    if index.roles.count >= Format.maximumRoles {
      throw .invalid("at most \(Format.maximumRoles) roles can have keys")
    }
    let reading = try Self.accessList(of: role, 4, in: group)
    let seed = try SecretBytes.random(byteCount: RoleKeys.seedBytes)
    let made = try RoleKeys(seed: seed)
    let bytes = try KeyFile.bytes(
      seed, of: role, in: group.id, signer: signer, source: source,
      hostKey: keys.opening.publicKey)
    try files.writeKey(bytes, of: role, access: reading)
    try files.makeAuditLog(of: role, access: try Self.accessList(of: role, 6, in: group))
    index.roles[role] = made.publicKeys
    return made.publicKeys.opening
  }

  /// Gives the present holders of roles access to their files, because a role may have been granted
  /// to more users since. Only the owner can read the host's key.
  private func renewAccess(of roles: some Collection<Role>) throws(CredentialError) {
    for role in roles where role != .host {
      guard let reading = group.accessList(of: role, 4),
        let writing = group.accessList(of: role, 6)
      else { continue }
      try files.renewAccess(of: role, reading: reading, writing: writing)
    }
  }

  func made(
    _ name: CredentialName, _ options: CredentialOptions, replacing old: CredentialAttributes?
  ) -> CredentialAttributes {
    let now = wallNowSeconds()
    return CredentialAttributes(
      name: name, label: options.label, comment: options.comment,
      accessibility: options.accessibility,
      createdAtSeconds: old?.createdAtSeconds ?? now, changedAtSeconds: now,
      expiresAtSeconds: options.expiresAtSeconds,
      recipients: Set(options.recipients).union([.host]).sorted(), generation: 0,
      id: old?.id ?? .random())
  }

  func requireHost() throws(CredentialError) {
    guard role == .host else {
      throw .notEntitled("the role \(role) cannot change credentials; only the host can")
    }
    try Self.requireOwner(group)
  }

  func requireValid(
    _ secret: borrowing SecretBytes, _ options: CredentialOptions
  ) throws(CredentialError) {
    try options.requireValid()
    guard (1...Format.maximumSecretBytes).contains(secret.byteCount) else {
      throw .invalid(
        "a secret has 1 to \(Format.maximumSecretBytes) bytes, not \(secret.byteCount)")
    }
  }
}
