import AppGroup
import Platform

/// Where a suite's file lies.
struct SuitePlace: ~Copyable, Sendable {
  let name: SuiteName
  let directory: Directory
  /// Files that root makes are given to the group's owner; others keep their maker.
  private let ownerID: UInt32?

  init(_ name: SuiteName, in group: AppGroup) throws(DefaultsError) {
    self.name = name
    directory = try Self.directory(of: group)
    ownerID = currentUserID() == 0 ? group.ownerID : nil
  }

  static func directory(of group: AppGroup) throws(DefaultsError) -> Directory {
    do { return try group.openDefaults() } catch { throw .group(error) }
  }

  var path: String { directory.path(of: name.fileName) }

  func status() throws(DefaultsError) -> FileStatus? {
    try attempt { () throws(SystemError) in try directory.status(of: name.fileName) }
  }

  func open() throws(DefaultsError) -> SuiteFile? { try SuiteFile(name, in: directory) }

  /// Makes the file, unless another process is first.
  func make() throws(DefaultsError) {
    let bytes = try SuiteImage().fileBytes()
    try attempt { () throws(SystemError) in
      do throws(SystemError) {
        try put(bytes, isReplacing: false)
      } catch {
        // Its file may have been taken for one that a dead process left; or the group is gone.
        let isThere = try directory.status().linkCount > 0
        let isCleared = error.isMissing && isThere
        // It is there, and what is to be written to it need not survive a power cut either.
        if !error.isExisting && !isCleared && !error.followsChange { throw error }
      }
    }
  }

  /// Puts another file in the place of the one whose lock the caller holds, as a whole, so that it
  /// survives a power cut; and clears up after those who died while they did so.
  func replace(with bytes: [UInt8]) throws(DefaultsError) {
    try attempt { () throws(SystemError) in
      let prefix = ".new-\(name.fileName)-"
      for entry in try directory.names() where entry.hasPrefix(prefix) {
        // Another suite's name may go on where this one's ends, but not without a dot.
        if !entry.dropFirst(prefix.count).contains(".") { try directory.removeFile(entry) }
      }
      try put(bytes, isReplacing: true)
    }
  }

  func remove() throws(DefaultsError) {
    try attempt { () throws(SystemError) in
      try directory.removeFile(name.fileName)
      do throws(SystemError) { try directory.sync() } catch { throw error.afterChange }
    }
  }

  private func put(_ bytes: [UInt8], isReplacing: Bool) throws(SystemError) {
    // An inherited access control list narrows the group's part to the members.
    try directory.replaceFile(
      name.fileName, with: bytes, mode: 0o660, ownerID: ownerID, isReplacing: isReplacing)
  }
}
