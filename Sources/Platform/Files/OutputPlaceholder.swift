import Glibc

/// An empty file or directory for another writer, which is removed again if it stays unused.
package struct OutputPlaceholder: Sendable {
  private let output: OutputFile
  private let made: FileStatus

  /// Creates it: a file with the umask's permissions, or a directory that all users may list.
  /// - Parameters:
  ///   - path: of a directory if it ends with a slash, otherwise of a file.
  ///   - user: its owner; nil for this process's user.
  /// Returns nil if the path already exists.
  package init?(at path: String, for user: UserAccount? = nil) throws(SystemError) {
    let isFolder = path.hasSuffix("/")
    let output = OutputFile(isFolder ? String(path.dropLast()) : path)
    let directory = try Directory(path: output.directory)
    do throws(SystemError) {
      if isFolder {
        let folder = try directory.makeDirectory(output.name, mode: 0o755)
        if let user { try folder.descriptor.give(to: user, path: path) }
        made = try folder.status()
      } else {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let file = try directory.open(output.name, flags: flags, mode: 0o666)
        if let user { try file.give(to: user, path: path) }
        made = try fileStatus(of: file, path: path)
      }
    } catch {
      if error.code == EEXIST { return nil }
      throw error
    }
    self.output = output
  }

  /// Removes it, unless it was written to or replaced.
  package func removeIfUnwritten() {
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

extension Descriptor {
  fileprivate borrowing func give(to user: UserAccount, path: String) throws(SystemError) {
    if fchown(number, user.id, user.groupID) != 0 { throw .last("fchown", path: path) }
  }
}
