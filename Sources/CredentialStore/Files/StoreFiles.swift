import AppGroup
import Platform

/// The directory `credentials` of a group's container and its files. Only the group's owner can
/// change it. Members can read sealed files, and each role its own key. Before a file is read, its
/// owner and mode are checked.
struct StoreFiles: ~Copyable, Sendable {
  let root: Directory
  let keys: Directory
  let items: Directory
  let audit: Directory
  private let run: Directory
  private let ownerID: UInt32

  static let directoryName = "credentials"
  private static let keysName = "keys"
  private static let itemsName = "items"
  private static let auditName = "audit"
  /// The highest generation of the index, stored outside the container and its backups.
  private static let anchorName = "credentials.anchor"

  /// - Parameter isMaking: creates missing directories.
  init(in group: AppGroup, isMaking: Bool) throws(CredentialError) {
    let ownerID = group.ownerID
    func opened(
      _ name: String, in parent: borrowing Directory
    ) throws(CredentialError) -> Directory {
      let path = parent.path(of: name)
      guard let status = try CredentialError.attempt(parent.status(of: name))
      else {
        if !isMaking { throw .noStore(group.id) }
        return try CredentialError.attempt { () throws(SystemError) in
          let made = try parent.makeDirectory(name, mode: 0o755)
          if currentUserID() != ownerID { try made.setOwner(ownerID, group: .max) }
          return made
        }
      }
      try Self.require(status, .directory, path, ownerID)
      return try CredentialError.attempt(parent.openDirectory(name))
    }
    let container = try CredentialError.attempt(Directory(path: group.containerPath))
    let root = try opened(Self.directoryName, in: container)
    let keys = try opened(Self.keysName, in: root)
    let items = try opened(Self.itemsName, in: root)
    let audit = try opened(Self.auditName, in: root)
    let run = try CredentialError.attempt(Directory(path: group.runPath))
    self.root = root
    self.keys = keys
    self.items = items
    self.audit = audit
    self.run = run
    self.ownerID = ownerID
  }

  static func grants(for role: Role, in group: AppGroup) -> [PathGrant] {
    let root = group.containerPath + "/" + directoryName
    let listed = [root, "\(root)/\(keysName)", "\(root)/\(auditName)"]
    let read = [
      "\(root)/\(StoreIndex.fileName)", "\(root)/\(itemsName)", group.runPath + "/" + anchorName,
    ]
    return listed.map { PathGrant(.list, $0) } + read.map { PathGrant(.read, $0) }
      + [PathGrant(.write, "\(root)/\(auditName)/\(auditName(of: role))")]
  }

  /// Checks that only the owner can have created the entry and can change it.
  private static func require(
    _ status: FileStatus, _ kind: FileStatus.Kind, _ path: String, _ ownerID: UInt32
  ) throws(CredentialError) {
    func refuse(_ why: String) throws(CredentialError) { throw .untrusted(path: path, why: why) }
    if status.kind != kind { try refuse("it is a \(status.kind.rawValue), not a \(kind.rawValue)") }
    if status.ownerID != ownerID { try refuse("it belongs to \(userText(status.ownerID))") }
    if status.isWritableByEverybody || status.isWritableByGroup {
      try refuse("others can write it (mode \(octal(status.mode))); run `chmod go-w \(path)`")
    }
    if kind == .file, status.linkCount > 1 {
      try refuse("it has \(status.linkCount) hard links")
    }
  }

  // MARK: Reading

  /// The status of the index, which reveals a change; nil if it does not exist.
  func indexStatus() throws(CredentialError) -> FileStatus? {
    try CredentialError.attempt(root.status(of: StoreIndex.fileName))
  }

  /// Opens the index, to be read in parts.
  /// - Returns: nil if it does not exist.
  func openIndex() throws(CredentialError) -> (file: ReadableFile, status: FileStatus)? {
    let opened: (file: ReadableFile, status: FileStatus)
    do {
      opened = try root.readableFile(StoreIndex.fileName, limit: Format.maximumIndexBytes)
    } catch {
      if case .system(let cause) = error, cause.isMissing { return nil }
      throw CredentialError(error)
    }
    try Self.require(opened.status, .file, opened.file.path, ownerID)
    return opened
  }

  /// - Returns: nil if there is no such file.
  func read(
    _ name: String, in directory: borrowing Directory, limit: Int
  ) throws(CredentialError) -> (bytes: [UInt8], status: FileStatus)? {
    let found: (bytes: [UInt8], status: FileStatus)
    do {
      found = try directory.readFile(name, limit: limit)
    } catch {
      if case .system(let cause) = error, cause.isMissing { return nil }
      throw CredentialError(error)
    }
    try Self.require(found.status, .file, directory.path(of: name), ownerID)
    return found
  }

  /// A role's key file; nil if it does not exist.
  func keyFile(of role: Role, in group: AppGroup) throws(CredentialError) -> KeyFile? {
    let name = KeyFile.name(of: role)
    guard let read = try Self.readSecret(name, in: keys) else { return nil }
    let path = keys.path(of: name)
    try Self.require(read.status, .file, path, ownerID)
    // With an access control list, its mask appears as the group bits (acl(5)).
    let allowed: UInt32 = group.accessList(of: role, 4)?.isPlain == false ? 0o640 : 0o600
    if read.status.mode & ~allowed != 0 {
      let mode = octal(read.status.mode)
      throw .untrusted(
        path: path, why: "others can read it (mode \(mode)); run `chmod 600 \(path)`")
    }
    let file = try KeyFile(parsing: read.bytes)
    guard file.role == role, file.group == group.id.description else {
      throw .tampered("the key file of the role \(role)")
    }
    return file
  }

  struct SecretFile: ~Copyable {
    let bytes: SecretBytes
    let status: FileStatus
  }

  /// Reads a key file directly into locked memory.
  /// - Returns: nil if it does not exist.
  static func readSecret(
    _ name: String, in directory: borrowing Directory
  ) throws(CredentialError) -> SecretFile? {
    var status: FileStatus?
    let bytes = try SecretBytes(capacity: KeyFile.maximumBytes) { span throws(CredentialError) in
      do throws(ContentsError) {
        let read = try directory.readFile(name, into: &span)
        status = read.status
        return read.byteCount
      } catch {
        if case .system(let cause) = error, cause.isMissing { return 0 }
        throw CredentialError(error)
      }
    }
    guard let status else { return nil }
    return SecretFile(bytes: bytes, status: status)
  }

  func anchor() -> UInt64? {
    guard let bytes = try? run.readFile(Self.anchorName, limit: 8).bytes, bytes.count == 8 else {
      return nil
    }
    var parser = ByteParser(bytes)
    return try? parser.integer(UInt64.self)
  }

  // MARK: Writing

  /// Takes the lock for changing the store. Waits at most 10 s.
  func lock() throws(CredentialError) -> FileLock {
    let lock = try CredentialError.attempt(
      FileLock.take(".lock", in: root, ownerID: ownerID, until: .after(.seconds(10))))
    guard let lock else { throw .busy(path: root.path(of: ".lock")) }
    return lock
  }

  func write(
    _ name: String, in directory: borrowing Directory, _ bytes: [UInt8]
  ) throws(CredentialError) {
    try CredentialError.attempt(
      directory.replaceFile(name, with: bytes, mode: 0o644, ownerID: ownerID))
  }

  /// Writes an item. Call ``syncItems(_:)`` before an index names it.
  func writeItem(_ name: String, _ bytes: [UInt8]) throws(CredentialError) {
    try CredentialError.attempt(
      items.replaceFile(name, with: bytes, mode: 0o644, ownerID: ownerID, isSynced: false))
  }

  /// Makes written items durable.
  func syncItems(_ names: [String]) throws(CredentialError) {
    try CredentialError.attempt(items.sync(files: names))
  }

  func writeKey(
    _ bytes: borrowing SecretBytes, of role: Role, access: AccessList?
  ) throws(CredentialError) {
    try CredentialError.attempt { () throws(SystemError) in
      try bytes.withBytes { span throws(SystemError) in
        try keys.replaceFile(
          KeyFile.name(of: role), with: span, mode: 0o600, ownerID: ownerID,
          access: access.flatMap { $0.isPlain ? nil : $0 })
      }
    }
  }

  func writeAnchor(_ generation: UInt64) throws(CredentialError) {
    var writer = ByteWriter()
    writer.integer(generation)
    try write(Self.anchorName, in: run, writer.bytes)
  }

  /// Removes leftovers of processes that died: temporary files, and items that the index does not
  /// name. Items of a newer generation than the index stay, because the index may have been rolled
  /// back.
  func sweep(
    keeping items: some Collection<CredentialAttributes>, generation: UInt64
  ) throws(CredentialError) {
    let kept = Set(items.map(\.fileName))
    try CredentialError.attempt { () throws(SystemError) in
      for name in try self.items.names() where !kept.contains(name) {
        if CredentialAttributes.generation(ofFile: name) ?? 0 > generation { continue }
        try self.items.removeFile(name)
      }
      try Self.sweep(root, prefix: ".new-")
      try Self.sweep(keys, prefix: ".new-")
      try Self.sweep(audit, prefix: ".new-")
      try Self.sweep(run, prefix: ".new-\(Self.anchorName)-")
    }
  }

  private static func sweep(
    _ directory: borrowing Directory, prefix: String
  ) throws(SystemError) {
    for name in try directory.names() where name.hasPrefix(prefix) {
      try directory.removeFile(name)
    }
  }

  // MARK: Per role

  static func auditName(of role: Role) -> String { "\(role).chain" }

  func makeAuditLog(of role: Role, access: AccessList) throws(CredentialError) {
    let name = Self.auditName(of: role)
    try CredentialError.attempt { () throws(SystemError) in
      if try audit.status(of: name) != nil { return }
      try audit.replaceFile(
        name, with: [], mode: 0o600, ownerID: ownerID, access: access.isPlain ? nil : access)
    }
  }

  /// Gives the present holders of a role access to its files.
  func renewAccess(
    of role: Role, reading: AccessList, writing: AccessList
  ) throws(CredentialError) {
    try CredentialError.attempt { () throws(SystemError) in
      try keys.setAccess(reading, ofFile: KeyFile.name(of: role))
      try audit.setAccess(writing, ofFile: Self.auditName(of: role))
    }
  }

  func openAuditLog(of role: Role) throws(CredentialError) -> RecordFile {
    let name = Self.auditName(of: role)
    let file: RecordFile?
    do {
      file = try RecordFile.open(
        name, in: audit, recordBytes: AuditRecord.byteCount, ownerID: ownerID,
        until: .after(.seconds(10)))
    } catch {
      if error.isMissing { throw .tampered("\(audit.path(of: name)) is missing") }
      throw CredentialError(error)
    }
    guard let file else { throw .busy(path: audit.path(of: name)) }
    return file
  }
}

extension CredentialError {
  init(_ error: ContentsError) {
    switch error {
    case .system(let error): self.init(error)
    case .notFile(let path, let kind):
      self = .untrusted(path: path, why: "it is a \(kind.rawValue), not a file")
    case .tooLarge(let path, let byteCount, let limit):
      self = .tampered("\(path) has \(byteCount) bytes, more than \(limit)")
    }
  }
}
