import Glibc

/// An empty file or folder that was made for somebody else to write, and goes again if nobody does.
package struct OutputPlaceholder: Sendable {
  private let place: OutputFile
  private let made: FileStatus

  /// Makes it: a file with the modes that the umask leaves, a folder that all may look into.
  /// - Parameter path: of a folder where it ends with a slash, else of a file.
  /// - Returns: nil if there is something of that name already.
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

  /// Removes it, unless something was written to it, or has its name now.
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
