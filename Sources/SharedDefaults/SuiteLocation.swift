import AppGroup
import Platform

/// The name and directory of a suite's file.
struct SuiteLocation: ~Copyable, Sendable {
  let name: SuiteName
  let directory: Directory
  /// The group's owner, who gets files that root creates; nil if this process is not root's, since
  /// its files keep their creator as owner.
  private let ownerID: UInt32?

  init(_ name: SuiteName, in group: AppGroup) throws(DefaultsError) {
    directory = try Self.directory(of: group)
    self.name = name
    ownerID = currentUserID() == 0 ? group.ownerID : nil
  }

  static func directory(of group: AppGroup) throws(DefaultsError) -> Directory {
    do { return try group.openDefaults() } catch { throw .group(error) }
  }

  var path: String { directory.path(of: name.fileName) }

  func status() throws(DefaultsError) -> FileStatus? {
    try DefaultsError.attempt(directory.status(of: name.fileName))
  }

  func open() throws(DefaultsError) -> SuiteFile? { try SuiteFile(name, in: directory) }

  /// Creates the file, unless another process does so first.
  func make() throws(DefaultsError) {
    let bytes = try SuiteImage().fileBytes()
    try DefaultsError.attempt { () throws(SystemError) in
      do throws(SystemError) {
        try put(bytes, isReplacing: false)
      } catch {
        // Another process may have removed the temporary file as a leftover, or the group is gone.
        let isThere = try directory.status().linkCount > 0
        let isCleared = error.isMissing && isThere
        // The file exists. It need not be durable, since a change is not durable without a sync.
        if !error.isExisting && !isCleared && !error.followsChange { throw error }
      }
    }
  }

  /// Replaces the file, whose lock the caller holds, atomically and durably. Also removes temporary
  /// files of processes that died while replacing it.
  func replace(with bytes: [UInt8]) throws(DefaultsError) {
    try DefaultsError.attempt { () throws(SystemError) in
      let prefix = ".new-\(name.fileName)-"
      for entry in try directory.names() where entry.hasPrefix(prefix) {
        // Another suite's name may begin with this one's, but then a dot follows.
        if !entry.dropFirst(prefix.count).contains(".") { try directory.removeFile(entry) }
      }
      try put(bytes, isReplacing: true)
    }
  }

  func remove() throws(DefaultsError) {
    try DefaultsError.attempt { () throws(SystemError) in
      try directory.removeFile(name.fileName)
      do throws(SystemError) { try directory.sync() } catch { throw error.afterChange }
    }
  }

  private func put(_ bytes: [UInt8], isReplacing: Bool) throws(SystemError) {
    // With an inherited access control list, the mode's group bits are only its mask (acl(5)).
    try directory.replaceFile(
      name.fileName, with: bytes, mode: 0o660, ownerID: ownerID, isReplacing: isReplacing)
  }
}
