import Platform

/// The directory that a group of one run lives in, such as a demo's.
package struct TemporaryFolder: Sendable {
  package let path: String
  private let name: String
  private let parent: String

  /// - Parameter prefix: how its name begins, such as `framebus-demo-`.
  package init(prefix: String) throws {
    // Short, because a stream's socket path may have 107 bytes only.
    parent = "/tmp"
    name = temporaryName(prefix: prefix)
    path = parent + "/" + name
    _ = try Directory(path: parent).makeDirectory(name, mode: 0o700)
  }

  package func remove() throws { try Directory(path: parent).removeTree(name) }
}
