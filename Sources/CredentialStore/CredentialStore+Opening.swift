import AppGroup
import Platform

/// Operations that every role may perform.
extension CredentialStore {
  /// Opens a credential. The role must be one of its recipients. The access is recorded in the
  /// role's log before the secret is returned.
  /// - Complexity: reads at most one block of the index, of 128 credentials, and its head again if
  ///   it has changed: 60 bytes a block.
  public func get(_ name: CredentialName) throws(CredentialError) -> SecretBytes {
    let index = try indexFile()
    do {
      let secret = try opened(name, index)
      try log(.get, .done, name, generation: index.head.generation)
      return secret
    } catch {
      if let outcome = AuditRecord.Outcome(error) {
        try log(.get, outcome, name, generation: index.head.generation)
      }
      throw error
    }
  }

  /// The attributes of all credentials, sorted by name.
  public func list() throws(CredentialError) -> [CredentialAttributes] {
    var items = try index().items
    for (name, lease) in session?.current() ?? [:] { items[name] = lease.attributes }
    return items.values
  }

  /// The attributes of a credential.
  public func attributes(of name: CredentialName) throws(CredentialError) -> CredentialAttributes {
    if let lease = try session?.lease(name) { return lease.attributes }
    guard let item = try indexFile().item(name) else { throw .notFound(name) }
    return item
  }

  /// The roles that have a key and therefore a log.
  public func roles() throws(CredentialError) -> [Role] { try head().roles.keys.sorted() }

  /// Opens a credential that has not expired.
  private func opened(
    _ name: CredentialName, _ index: IndexFile
  ) throws(CredentialError) -> SecretBytes {
    let lease = try session?.lease(name)
    let known = if let lease { lease.attributes } else { try index.item(name) }
    guard let item = known else { throw .notFound(name) }
    if item.isExpired(atSeconds: wallNowSeconds()), let at = item.expiresAtSeconds {
      throw .expired(name, atSeconds: at)
    }
    if let lease { return try lease.secret.copy() }
    return try opened(item, index.head)
  }

  /// Opens a credential that the index lists.
  func opened(
    _ item: CredentialAttributes, _ head: IndexHead
  ) throws(CredentialError) -> SecretBytes {
    var (item, head) = (item, head)
    // A concurrent change replaces the file, so an older index is read again.
    for _ in 0..<8 {
      let read = try files.read(item.fileName, in: files.items, limit: Format.maximumItemBytes)
      if let read { return try opened(item, read.bytes, head) }
      let index = try indexFile()
      guard let now = try index.item(item.name) else { throw .notFound(item.name) }
      head = index.head
      if now == item { break }
      item = now
    }
    throw .tampered("\(files.items.path(of: item.fileName)) is missing")
  }

  private func opened(
    _ item: CredentialAttributes, _ bytes: [UInt8], _ head: IndexHead
  ) throws(CredentialError) -> SecretBytes {
    let path = files.items.path(of: item.fileName)
    guard item.recipients.contains(role) else {
      throw .notEntitled(
        "the credential \(item.name) was not granted to the role \(role); the host can do that with"
          + " `framebus credential grant \(item.name.service) \(item.name.account) \(role)`")
    }
    // The store never seals it so, but a user may have restored an earlier key file.
    if item.accessibility == .whenUnlocked, isKeyInTheOpen {
      throw .keyInTheOpen(role, item.name)
    }
    let record: SealedRecord
    do {
      record = try SealedRecord(parsing: bytes)
    } catch {
      throw error == .newer ? .newerVersion(path: path) : .tampered(path)
    }
    guard record.group == group.id.description, record.attributes == item,
      head.isWriter(record.writerKey, of: item.name),
      record.recipientKeys == item.recipients.map({ head.roles[$0]?.opening ?? [] }),
      let secret = try record.open(as: role, with: keys.opening)
    else { throw .tampered(path) }
    return secret
  }
}
