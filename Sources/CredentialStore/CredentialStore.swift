import AppGroup
import Platform
import Synchronization

// A keychain for the group: the host seals credentials, the extension opens them, and a capture
// only one that the host lends it.
//
// libsodium does all cryptography. This module refuses to implement any itself, to hold a secret in
// a String or an array, to prompt on a terminal, and to report a failure as nil.
// Formats, attacks and failures: docs/design/sealed-file.md.

/// The credentials of a group, opened by one role.
///
/// Any number of threads and processes may use the store concurrently; changes are serialized. A
/// process that dies during a change leaves the store as before the change or as after it.
public final class CredentialStore: Sendable {
  /// The role in which this process opens credentials.
  public let role: Role
  let group: AppGroup
  let files: StoreFiles
  let seed: SecretBytes
  let keys: RoleKeys
  /// Whether this object's key came from an unprotected file.
  let isKeyInTheOpen: Bool
  /// The public key that verifies the index, from the role's own key file.
  let signer: [UInt8]
  /// The leases from the parent process; nil if nothing was handed over.
  let session: Session?
  private let acceptsOlder: Bool
  private let latest: Mutex<IndexFile?>
  /// The last record of the role's log that this object verified or wrote.
  let lastRecord = Mutex<AuditLog.Last?>(nil)

  /// Whether the group has a store.
  public static func exists(in group: AppGroup) throws(CredentialError) -> Bool {
    do {
      return try StoreFiles(in: group, isMaking: false).indexStatus() != nil
    } catch CredentialError.noStore {
      return false
    } catch {
      throw error
    }
  }

  /// What a confined role needs of the store's files: the sealed items and its own audit log, but
  /// no key. Its key comes by a descriptor (``HandOver``).
  package static func grants(for role: Role, in group: AppGroup) -> [PathGrant] {
    StoreFiles.grants(for: role, in: group)
  }

  /// Creates the store of a group. Only the group's owner can do it.
  /// - Parameter passphrase: protects the host's key. Without it the key is in a file that only the
  ///   owner can read, and is protected by the file's permissions only.
  public static func create(
    in group: AppGroup, passphrase: consuming SecretBytes? = nil
  ) throws(CredentialError) -> CredentialStore {
    try create(in: group, passphrase: passphrase, cost: nil)
  }

  static func create(
    in group: AppGroup, passphrase: consuming SecretBytes?, cost: PassphraseCost?
  ) throws(CredentialError) -> CredentialStore {
    try requireOwner(group)
    let files = try StoreFiles(in: group, isMaking: true)
    let lock = try files.lock()
    defer { lock.isHeldUntilHere() }
    if try files.indexStatus() != nil {
      throw .invalid("the group \(group.id) has a store of credentials already")
    }
    let leftover = try CredentialError.attempt(files.items.names())
    if !leftover.isEmpty { throw .tampered("\(files.root.path) has credentials but no index") }
    let seed = try SecretBytes.random(byteCount: RoleKeys.seedBytes)
    let keys = try RoleKeys(seed: seed)
    let signer = keys.indexSigning.publicKey
    let isInTheOpen = passphrase == nil
    let source: KeySource = if let passphrase { .passphrase(passphrase) } else { .file }
    let bytes = try KeyFile.bytes(
      seed, of: .host, in: group.id, signer: signer, source: source,
      hostKey: keys.opening.publicKey, cost: cost)
    // A key without an index, left by a process that died, never opened anything.
    try files.writeKey(bytes, of: .host, access: nil)
    try files.makeAuditLog(of: .host, access: try accessList(of: .host, 6, in: group))
    let index = StoreIndex(host: keys)
    try files.write(
      StoreIndex.fileName, in: files.root, index.signedBytes(of: group.id, by: keys.indexSigning))
    try files.writeAnchor(index.generation)
    return try CredentialStore(
      group, .host, files, RoleKey(seed: seed, signer: signer, isInTheOpen: isInTheOpen))
  }

  /// Opens the store as a role that the calling process holds.
  /// - Parameter passphrase: the passphrase of the role's key, if it has one.
  public static func open(
    in group: AppGroup, as role: Role, passphrase: consuming SecretBytes? = nil
  ) throws(CredentialError) -> CredentialStore {
    try open(in: group, as: role, passphrase: passphrase, acceptsOlder: false)
  }

  /// Accepts a store that is older than the last one seen, as after restoring a backup. Only the
  /// host can do it.
  public static func acceptRestore(
    in group: AppGroup, passphrase: consuming SecretBytes? = nil
  ) throws(CredentialError) {
    try requireOwner(group)
    let store = try open(in: group, as: .host, passphrase: passphrase, acceptsOlder: true)
    try store.acceptRestore()
  }

  private static func open(
    in group: AppGroup, as role: Role, passphrase: borrowing SecretBytes?, acceptsOlder: Bool
  ) throws(CredentialError) -> CredentialStore {
    do { try group.require(role) } catch { throw .notEntitled("\(error)") }
    let files = try StoreFiles(in: group, isMaking: false)
    if try files.indexStatus() == nil {
      let leftover = try CredentialError.attempt(files.items.names())
      if leftover.isEmpty { throw .noStore(group.id) }
      throw .tampered("\(files.root.path) has credentials but no index")
    }
    guard let key = try RoleKey.find(of: role, in: group, files, passphrase: passphrase) else {
      throw .notEntitled(
        "the role \(role) has no key, because no credential was ever granted to it; grant one with"
          + " `framebus credential grant SERVICE ACCOUNT \(role)`")
    }
    return try CredentialStore(group, role, files, key, acceptsOlder: acceptsOlder)
  }

  init(
    _ group: AppGroup, _ role: Role, _ files: consuming StoreFiles, _ key: consuming RoleKey,
    session: Session? = nil, acceptsOlder: Bool = false
  ) throws(CredentialError) {
    self.session = session
    self.acceptsOlder = acceptsOlder
    self.group = group
    self.role = role
    self.files = files
    keys = try RoleKeys(seed: key.seed)
    signer = key.signer
    isKeyInTheOpen = key.isInTheOpen
    seed = key.seed
    latest = Mutex(nil)
    guard try head().roles[role] == self.keys.publicKeys else {
      throw .tampered("the key of the role \(role), or the index, which has another key")
    }
  }

  static func requireOwner(_ group: AppGroup) throws(CredentialError) {
    let uid = currentUserID()
    if uid == group.ownerID || uid == 0 { return }
    throw .notEntitled(
      "only \(userText(group.ownerID)), the owner of the group \(group.id), can change its"
        + " credentials; ask that user")
  }

  static func accessList(
    of role: Role, _ permissions: AccessList.Permissions, in group: AppGroup
  ) throws(CredentialError) -> AccessList {
    guard let list = group.accessList(of: role, permissions) else {
      throw .invalid(
        "the group \(group.id) has no role \(role); create it with `framebus group grant`")
    }
    return list
  }

  // MARK: The index

  /// The present index with all credentials.
  func index() throws(CredentialError) -> StoreIndex { try indexFile().whole() }

  /// The head of the present index.
  func head() throws(CredentialError) -> IndexHead { try indexFile().head }

  /// The present index. Its head is read and verified only if it has changed.
  func indexFile() throws(CredentialError) -> IndexFile {
    try latest.withLock { latest throws(CredentialError) in
      let status = try files.indexStatus()
      if let latest, latest.status == status { return latest }
      // Read before the index, because a change writes the anchor after the index.
      let anchor = files.anchor() ?? 0
      guard let (file, status) = try files.openIndex() else {
        throw .tampered("\(files.root.path(of: StoreIndex.fileName)) is missing")
      }
      let read = try IndexFile(file, status, of: group.id, signer: signer)
      try requireNew(read.head.generation, seen: max(anchor, latest?.head.generation ?? 0))
      latest = read
      return read
    }
  }

  /// Refuses a genuine index of an older state.
  private func requireNew(_ generation: UInt64, seen: UInt64) throws(CredentialError) {
    if acceptsOlder || generation >= seen { return }
    throw .rolledBack(generation: generation, seen: seen)
  }

  /// Writes an index. Its change takes effect at that moment.
  func replaceIndex(_ index: StoreIndex) throws(CredentialError) {
    let bytes = index.signedBytes(of: group.id, by: keys.indexSigning)
    guard bytes.count <= Format.maximumIndexBytes else {
      throw .invalid("the group has too many credentials")
    }
    try files.write(StoreIndex.fileName, in: files.root, bytes)
    try files.writeAnchor(index.generation)
  }
}
