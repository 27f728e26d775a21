import AppGroup
import Platform

/// Export and import of credentials between groups and machines. Only the host can do it.
extension CredentialStore {
  /// The largest export file, in bytes.
  public static let maximumExportBytes = ExportFile.maximumBytes

  /// Whether ``importing(_:passphrase:from:isReplacing:)`` needs a passphrase for a file.
  public static func isUnderPassphrase(_ file: [UInt8]) -> Bool {
    (try? ExportFile(parsing: file))?.isUnderPassphrase ?? false
  }

  /// The store's public identity, for which others export, and which verifies its exports.
  public func identity() throws(CredentialError) -> StoreIdentity {
    guard let host = try head().roles[.host] else { throw .tampered("the index has no host") }
    return StoreIdentity(host)
  }

  /// Seals credentials into one file that only the other store's host can open.
  /// - Returns: the file's bytes, which are not secret.
  public func export(
    _ names: [CredentialName], for receiver: StoreIdentity
  ) throws(CredentialError) -> [UInt8] {
    try export(names, for: .store(receiver))
  }

  /// Seals credentials into one file that opens with a passphrase.
  public func export(
    _ names: [CredentialName], under passphrase: consuming SecretBytes
  ) throws(CredentialError) -> [UInt8] {
    try export(names, for: .passphrase(.init(secret: passphrase, cost: try .calibrated())))
  }

  func export(
    _ names: [CredentialName], for receiver: consuming ExportFile.Receiver
  ) throws(CredentialError) -> [UInt8] {
    try requireHost()
    if names.isEmpty { throw .invalid("there is nothing to export") }
    let index = try indexFile()
    let items = try names.map { name throws(CredentialError) in
      guard let item = try index.item(name) else { throw .notFound(name) }
      return item
    }
    for name in names { try log(.export, .done, name, generation: index.head.generation) }
    let bytes = try ExportFile.bytes(
      of: items.count, from: group.id, for: receiver, signing: keys.signing
    ) { number throws(CredentialError) in
      try ExportFile.entry(items[number], opened(items[number], index.head))
    }
    if bytes.count > ExportFile.maximumBytes {
      throw .invalid("the export is too large for one file; export fewer credentials at a time")
    }
    return bytes
  }

  /// Imports all credentials that another store exported, or none.
  /// - Parameters:
  ///   - file: the file's bytes, which are untrusted.
  ///   - passphrase: the file's passphrase, if it was sealed under one.
  ///   - exporter: the only identity whose exports are accepted; nil accepts any.
  ///   - isReplacing: replaces credentials of the same names. Without it one such name throws
  ///     ``CredentialError/duplicate(_:)``, and nothing is imported.
  /// - Returns: the names of the imported credentials.
  @discardableResult
  public func importing(
    _ file: [UInt8], passphrase: consuming SecretBytes? = nil, from exporter: StoreIdentity? = nil,
    isReplacing: Bool = false
  ) throws(CredentialError) -> [CredentialName] {
    try requireHost()
    let export: ExportFile
    do { export = try ExportFile(parsing: file) } catch {
      throw error == .newer ? .newerVersion(path: "the file") : .unusableExport("the file")
    }
    if let exporter, exporter.signing != export.signer {
      throw .notEntitled("the file was exported by another store, not by the one given")
    }
    let key = try export.key(for: keys.opening, passphrase: passphrase)
    var names: [CredentialName] = []
    var known: Set<CredentialName> = []
    try change(.import) { draft throws(CredentialError) in
      for number in 0..<export.count {
        try export.withEntry(number, by: key) { entry, secret throws(CredentialError) in
          let old = draft.index.items[entry.name]
          // A file with the same name twice is malformed.
          guard known.insert(entry.name).inserted else { throw .unusableExport("the file") }
          if old != nil, !isReplacing { throw .duplicate(entry.name) }
          try seal(secret, entry.arriving(replacing: old), &draft)
          names.append(entry.name)
        }
      }
      return names
    }
    return names
  }
}

extension CredentialAttributes {
  /// The imported credential, with the ID of the one that it replaces or a new one.
  fileprivate func arriving(replacing old: CredentialAttributes?) -> CredentialAttributes {
    CredentialAttributes(
      name: name, label: label, comment: comment, accessibility: accessibility,
      createdAtSeconds: createdAtSeconds,
      changedAtSeconds: changedAtSeconds, expiresAtSeconds: expiresAtSeconds,
      recipients: recipients, generation: 0, id: old?.id ?? .random())
  }
}
