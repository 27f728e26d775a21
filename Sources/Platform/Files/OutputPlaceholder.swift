import Glibc

/// An empty file or directory for another writer, which is removed again if it stays unused.
package struct OutputPlaceholder: Sendable {
  private let place: OutputFile
  private let made: FileStatus

  /// Creates it: a file with the umask's permissions, or a directory that all users may list.
  /// - Parameter path: of a directory if it ends with a slash, otherwise of a file.
  /// Returns nil if the path already exists.
  package init?(at path: String) throws(SystemError) {
    let isFolder = path.hasSuffix("/")
    let place = OutputFile(isFolder ? String(path.dropLast()) : path)
    let directory = try Directory(path: place.directory)
    do throws(SystemError) {
      if isFolder {
        made = try directory.makeDirectory(place.name, mode: 0o755).status()
      } else {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let file = try directory.open(place.name, flags: flags, mode: 0o666)
        made = try fileStatus(of: file, path: path)
      }
    } catch {
      if error.code == EEXIST { return nil }
      throw error
    }
    self.place = place
  }

  /// Removes it, unless it was written to or replaced.
  package func removeIfUnwritten() {
    guard let directory = try? Directory(path: place.directory),
      let found = try? directory.status(of: place.name), found.isSameFile(as: made)
    else { return }
    if found.kind == .directory {
      try? directory.removeEmptyDirectory(place.name)
    } else if found.byteCount == 0 {
      try? directory.removeFile(place.name)
    }
  }
}

extension FileStatus {
  fileprivate func isSameFile(as other: FileStatus) -> Bool {
    kind == other.kind && device == other.device && inode == other.inode
  }
}
