import AppGroup
import Platform
import SharedDefaults

/// The extensions of a group: `extensions/ID.toml` in its container. Hosts run the programs that
/// these files name, so only the group's owner can write them; hosts read them.
public struct ExtensionRegistry: Sendable {
  private static let directoryName = "extensions"
  private static let suffix = ".toml"
  let group: AppGroup

  /// The extensions of a group.
  public init(_ group: AppGroup) { self.group = group }

  /// A registered name with its manifest, or the error that makes the manifest unusable.
  public struct Entry: Sendable {
    /// The name.
    public let id: String
    /// The manifest, or why it cannot be used.
    public let manifest: Result<ExtensionManifest, BroadcastError>
  }

  /// Lists every extension sorted by id, including unusable ones, and
  /// ``ExtensionManifest/whipID`` if the setting `whipURL` exists.
  public func list() throws(BroadcastError) -> [Entry] {
    var ids = Set(try ids())
    if whipAddress != nil { ids.insert(ExtensionManifest.whipID) }
    return ids.sorted().map { id in
      Entry(id: id, manifest: Result { () throws(BroadcastError) in try manifest(of: id) })
    }
  }

  static let serverKey = "whipURL"

  /// The setting `whipURL`; nil without it.
  var whipAddress: String? {
    guard let settings = try? SharedDefaults(in: group) else { return nil }
    return switch settings.value(forKey: Self.serverKey) {
    case .string(let text), .url(let text): text
    default: nil
    }
  }

  /// - Throws: ``BroadcastError/unknownExtension(_:known:)``, or the error in the manifest.
  public func manifest(of id: String) throws(BroadcastError) -> ExtensionManifest {
    do throws(BroadcastError) { return try registeredManifest(of: id) } catch {
      if case .unknownExtension = error, id == ExtensionManifest.whipID { return .whip }
      throw error
    }
  }

  private func registeredManifest(of id: String) throws(BroadcastError) -> ExtensionManifest {
    guard NameRule(brokenBy: id) == nil, let directory = try openedIfThere() else {
      throw .unknownExtension(id, known: try ids())
    }
    let name = id + Self.suffix
    let path = directory.path(of: name)
    let bytes: [UInt8]
    let status: FileStatus
    do {
      (bytes, status) = try directory.readFile(name, limit: ExtensionManifest.maximumBytes)
    } catch {
      if case .system(let error) = error, error.isMissing {
        throw .unknownExtension(id, known: try ids())
      }
      throw BroadcastError(error, ofManifestAt: path)
    }
    // It has no name if it has just been replaced.
    guard status.isChangedOnly(by: group.ownerID), status.linkCount <= 1 else {
      throw .untrusted(
        path: path, why: "users other than \(userText(group.ownerID)) could change it")
    }
    let manifest = try Self.parsed(bytes, path: path)
    guard manifest.id == id else {
      throw .brokenManifest(
        path: path, line: 1, reason: "its id differs from the file name, \(id)")
    }
    return manifest
  }

  /// Reads a manifest outside the registry.
  public static func manifest(atPath path: String) throws(BroadcastError) -> ExtensionManifest {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let directory: Directory
    do throws(SystemError) { directory = try Directory(path: folder) } catch {
      throw .system(error)
    }
    let bytes: [UInt8]
    do {
      bytes = try directory.readFile(name, limit: ExtensionManifest.maximumBytes).bytes
    } catch { throw BroadcastError(error, ofManifestAt: path) }
    return try parsed(bytes, path: path)
  }

  private static func parsed(
    _ bytes: [UInt8], path: String
  ) throws(BroadcastError) -> ExtensionManifest {
    do { return try ExtensionManifest(parsing: bytes) } catch {
      throw .brokenManifest(path: path, line: error.line, reason: error.reason)
    }
  }

  // MARK: Changing

  /// Registers or updates an extension.
  /// - Throws: ``BroadcastError/missingProgram(_:)`` or ``BroadcastError/notExecutable(path:)`` if
  ///   its program could not be started; ``BroadcastError/unusedPreference(_:why:)``.
  public func register(_ manifest: ExtensionManifest) throws(BroadcastError) {
    try group.requireOwner("register extensions")
    if manifest.capture.silenceLimit != nil, manifest.samples == [.video] {
      throw .unusedPreference("silence", why: "the extension requests no sound")
    }
    let program = manifest.executable
    if program.hasPrefix("/") {
      guard isExecutableFile(program) else { throw .notExecutable(path: program) }
    } else if productProgram(named: program) == nil {
      throw .missingProgram(program)
    }
    do throws(SystemError) {
      let container = try Directory(path: group.containerPath)
      if try container.status(of: Self.directoryName) == nil {
        let made = try container.makeDirectory(Self.directoryName, mode: 0o700)
        if currentUserID() != group.ownerID { try made.setOwner(group.ownerID, group: .max) }
      }
      let directory = try container.openDirectory(Self.directoryName)
      try letHostsEnter(directory)
      try directory.replaceFile(
        manifest.id + Self.suffix, with: Array(manifest.text.utf8), mode: 0o600,
        ownerID: currentUserID() == group.ownerID ? nil : group.ownerID,
        access: group.accessList(of: .host, 4))
    } catch { throw .system(error) }
  }

  /// Removes an extension, even if its manifest is unusable.
  public func remove(_ id: String) throws(BroadcastError) {
    try group.requireOwner("remove extensions")
    guard try ids().contains(id), let directory = try openedIfThere() else {
      throw .unknownExtension(id, known: try ids())
    }
    do throws(SystemError) {
      try directory.removeFile(id + Self.suffix)
    } catch { throw .system(error) }
  }

  /// Lets the present hosts read every extension. A file has the permissions from when it was
  /// registered, so the group's owner must call this after granting the role `host`.
  public func renewAccess() throws(BroadcastError) {
    guard let directory = try openedIfThere() else { return }
    try group.requireOwner("let new hosts read its extensions")
    let names = try ids().map { $0 + Self.suffix }
    do throws(SystemError) {
      try letHostsEnter(directory)
      guard let hosts = group.accessList(of: .host, 4) else { return }
      for name in names { try directory.setAccess(hosts, ofFile: name) }
    } catch { throw .system(error) }
  }

  private func letHostsEnter(_ directory: borrowing Directory) throws(SystemError) {
    guard let hosts = group.accessList(of: .host, 5), !hosts.isPlain else { return }
    let list = AccessList(owner: 7, users: hosts.users, groups: hosts.groups)
    try directory.descriptor.setAccess(list, .access, path: directory.path)
  }

  private func ids() throws(BroadcastError) -> [String] {
    guard let directory = try openedIfThere() else { return [] }
    do throws(SystemError) {
      return try directory.names().filter { $0.hasSuffix(Self.suffix) }
        .map { String($0.dropLast(Self.suffix.count)) }
        .filter { NameRule(brokenBy: $0) == nil }.sorted()
    } catch { throw .system(error) }
  }

  private func openedIfThere() throws(BroadcastError) -> Directory? {
    do throws(SystemError) {
      let directory = try Directory(path: group.containerPath).openDirectory(Self.directoryName)
      if try directory.status().isChangedOnly(by: group.ownerID) { return directory }
    } catch {
      if error.isMissing { return nil }
      throw .system(error)
    }
    throw .untrusted(
      path: "\(group.containerPath)/\(Self.directoryName)",
      why: "users other than the group's owner could change it")
  }
}

extension AppGroup {
  /// Throws unless the user is the owner, or root.
  func requireOwner(_ what: String) throws(BroadcastError) {
    let uid = currentUserID()
    guard uid == ownerID || uid == 0 else { throw .notOwner(what) }
  }
}

extension BroadcastError {
  fileprivate init(_ error: ContentsError, ofManifestAt path: String) {
    switch error {
    case .system(let error): self = .system(error)
    case .notFile(_, let kind):
      self = .untrusted(path: path, why: "it is a \(kind.rawValue), not a regular file")
    case .tooLarge(_, let byteCount, let limit):
      self = .untrusted(path: path, why: "it has \(byteCount) bytes, more than \(limit)")
    }
  }
}

extension FileStatus {
  /// Checks the mode only: the group bits show the mask of an access control list, and the list
  /// that `register` sets only lets hosts read.
  fileprivate func isChangedOnly(by uid: UInt32) -> Bool {
    ownerID == uid && !isWritableByGroup && !isWritableByEverybody
  }
}
