import Platform

/// The directory that a demo's group lives in.
struct DemoFolder {
  let path: String
  private let name: String
  private let parent: String

  init() throws {
    // Short, because a stream's socket path may have 107 bytes only.
    parent = "/tmp"
    name = temporaryName(prefix: "framebus-demo-")
    path = parent + "/" + name
    _ = try Directory(path: parent).makeDirectory(name, mode: 0o700)
  }

  func remove() throws { try Directory(path: parent).removeTree(name) }
}
