import Platform

/// The directory of a group that exists for one run, such as a demo's. It has a file that this
/// process locks, so that a later run can tell a directory in use from one that a killed run left.
package final class TemporaryFolder: Sendable {
  package let path: String
  private let name: String
  private let lock: FileLock?

  // Short, because the path of a stream's socket is limited to 107 bytes.
  private static let parent = "/tmp"
  private static let lockName = "in-use"
  /// Other users can create any number of entries in the parent.
  private static let maximumEntries = 100_000

  /// - Parameters:
  ///   - prefix: the start of the directory's name, such as `framebus-demo-`.
  ///   - isKept: whether ``removeLeftovers(prefix:)`` leaves it after its run.
  package init(prefix: String, isKept: Bool = false) throws {
    name = temporaryName(prefix: prefix)
    path = Self.parent + "/" + name
    let folder = try Directory(path: Self.parent).makeDirectory(name, mode: 0o700)
    lock =
      isKept
      ? nil
      : try FileLock.take(
        Self.lockName, in: folder, ownerID: currentUserID(), until: .after(.seconds(1)))
  }

  package func remove() throws { try Directory(path: Self.parent).removeTree(name) }

  /// Removes this user's directories that killed runs left. A directory whose file is locked is in
  /// use; one without that file is not touched.
  package static func removeLeftovers(prefix: String) {
    guard let parent = try? Directory(path: parent),
      let names = try? parent.names(atMost: maximumEntries)
    else { return }
    for name in names where name.hasPrefix(prefix) {
      guard let folder = try? parent.openDirectory(name),
        (try? folder.status())?.ownerID == currentUserID(),
        let lock = try? FileLock.take(
          lockName, in: folder, ownerID: currentUserID(), isMaking: false, until: .now)
      else { continue }
      // What cannot be removed, the next run tries again.
      try? parent.removeTree(name)
      lock.isHeldUntilHere()
    }
  }
}
