import Platform

/// The directory of a group that exists for one run, such as a demo's.
package struct TemporaryFolder: Sendable {
  package let path: String
  private let name: String
  private let parent: String

  /// - Parameter prefix: the start of the directory's name, such as `framebus-demo-`.
  package init(prefix: String) throws {
    // Short, because the path of a stream's socket is limited to 107 bytes.
    parent = "/tmp"
    name = temporaryName(prefix: prefix)
    path = parent + "/" + name
    _ = try Directory(path: parent).makeDirectory(name, mode: 0o700)
  }

  package func remove() throws { try Directory(path: parent).removeTree(name) }
}
