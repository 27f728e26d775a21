import Glibc

/// An empty file or directory for another writer, which is removed again if it stays unused.
package struct OutputPlaceholder: Sendable {
  private let output: OutputFile
  private let user: UserAccount?
  private let made: FileStatus

  /// Creates it: a file with the umask's permissions, or a directory that all users may list.
  /// - Parameters:
  ///   - path: of a directory if it ends with a slash, otherwise of a file.
  ///   - user: its owner, with whose rights it is created; nil for this process's user.
  /// Returns nil if the path already exists.
  package init?(at path: String, for user: UserAccount? = nil) throws(SystemError) {
    let isFolder = path.hasSuffix("/")
    let output = OutputFile(isFolder ? String(path.dropLast()) : path)
    func make() throws(SystemError) -> FileStatus {
      let directory = try Directory(path: output.directory)
      if isFolder { return try directory.makeDirectory(output.name, mode: 0o755).status() }
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
      let file = try directory.open(output.name, flags: flags, mode: 0o666)
      return try fileStatus(of: file, path: path)
    }
    do throws(SystemError) {
      made = if let user { try user.withFileRights(make) } else { try make() }
    } catch {
      if error.code == EEXIST { return nil }
      throw error
    }
    self.output = output
    self.user = user
  }

  /// Removes it, unless it was written to or replaced.
  package func removeIfUnwritten() {
    guard let user else { return remove() }
    try? user.withFileRights { () throws(SystemError) in remove() }
  }

  private func remove() {
    guard let directory = try? Directory(path: output.directory),
      let found = try? directory.status(of: output.name), found.isSameFile(as: made)
    else { return }
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
