/// A path, and a confined process's access to it and, except for `list`, to everything below it. A
/// module that keeps files of its own declares what each role needs of them; Confinement enforces
/// it.
package struct PathGrant: Hashable, Sendable {
  package enum Access: String, Sendable {
    /// Listing a directory that contains other grants.
    case list
    case read
    /// Reading, and executing as a program or library.
    case run
    /// Reading, writing, creating and removing.
    case write
  }

  package let access: Access
  package let path: String

  package init(_ access: Access, _ path: String) {
    self.access = access
    self.path = path
  }
}

extension AppGroup {
  /// What a confined member of any role needs: the group's directories and their parents, to find
  /// the group; the manifest; and the areas and the audit log, in which permissions of the file
  /// system apply in addition.
  package var memberGrants: [PathGrant] {
    func parent(_ path: String) -> String {
      String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
    let states = parent(containerPath)
    let runs = parent(runPath)
    let isRoot = parent(states) == parent(runs)
    let listed = (isRoot ? [parent(states)] : []) + [states, runs, containerPath, runPath]
    let layout = GroupLayout(Manifest(id: id, ownerID: ownerID))
    let written =
      (layout.container.areas.map(\.name) + [AuditLog.directoryName]).map {
        containerPath + "/" + $0
      } + layout.run.areas.map { runPath + "/" + $0.name }
    return listed.map { PathGrant(.list, $0) }
      + [PathGrant(.read, containerPath + "/" + Manifest.fileName)]
      + written.map { PathGrant(.write, $0) }
  }
}
