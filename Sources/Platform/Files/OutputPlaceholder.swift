import Glibc

/// An empty file or directory for another writer, which is removed again if it stays unused.
package struct OutputPlaceholder: Sendable {
  private let output: OutputFile
  private let user: UserAccount?
  private let made: FileStatus

  /// Creates it: a file with the umask's permissions, or a directory that all users may list.
  /// - Parameters:
  ///   - path: of a directory if it ends with a slash, otherwise of a file.
  ///   - user: its owner; nil for this process's user. It is created with the owner's rights, or
  ///     with this process's where the owner has no part in where the path leads.
  /// Returns nil if the path already exists.
  package init?(at path: String, for user: UserAccount? = nil) throws(SystemError) {
    let isFolder = path.hasSuffix("/")
    let output = OutputFile(isFolder ? String(path.dropLast()) : path)
    func make(
      in directory: borrowing Directory, for owner: UserAccount?
    ) throws(SystemError) -> FileStatus {
      if isFolder {
        let folder = try directory.makeDirectory(output.name, mode: 0o755)
        if let owner { try folder.descriptor.give(to: owner, path: path) }
        return try folder.status()
      }
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
      let file = try directory.open(output.name, flags: flags, mode: 0o666)
      if let owner { try file.give(to: owner, path: path) }
      return try fileStatus(of: file, path: path)
    }
    func makeUsually() throws(SystemError) -> FileStatus {
      try make(in: Directory(path: output.directory), for: nil)
    }
    do throws(SystemError) {
      guard let user else {
        made = try makeUsually()
        (self.output, self.user) = (output, nil)
        return
      }
      do throws(SystemError) {
        made = try user.withFileRights(makeUsually)
      } catch {
        guard error.code == EACCES, let directory = Self.ownDirectory(of: output) else {
          throw error
        }
        made = try make(in: directory, for: user)
      }
    } catch {
      if error.code == EEXIST { return nil }
      throw error
    }
    self.output = output
    self.user = user
  }

  /// The output's directory, if only root and this process's user decide where its path leads.
  private static func ownDirectory(of output: OutputFile) -> Directory? {
    try? Directory.openTrusted(path: output.directory, trusting: [0, currentUserID()])
  }

  /// Removes it, unless it was written to or replaced.
  package func removeIfUnwritten() {
    guard let user else {
      if let directory = try? Directory(path: output.directory) { remove(from: directory) }
      return
    }
    if let directory = Self.ownDirectory(of: output) { return remove(from: directory) }
    try? user.withFileRights { () throws(SystemError) in
      remove(from: try Directory(path: output.directory))
    }
  }

  private func remove(from directory: borrowing Directory) {
    guard let found = try? directory.status(of: output.name), found.isSameFile(as: made) else {
      return
    }
    if found.kind == .directory {
      try? directory.removeEmptyDirectory(output.name)
    } else if found.byteCount == 0 {
      try? directory.removeFile(output.name)
    }
  }
}

extension FileStatus {
  fileprivate func isSameFile(as other: FileStatus) -> Bool {
    kind == other.kind && device == other.device && inode == other.inode
  }
}

extension Descriptor {
  fileprivate borrowing func give(to user: UserAccount, path: String) throws(SystemError) {
    if fchown(number, user.id, user.groupID) != 0 { throw .last("fchown", path: path) }
  }
}
