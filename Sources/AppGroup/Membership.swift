import Platform
import Synchronization

/// The roles of users by the present manifest. A change by `framebus group grant` reaches a running
/// process at its next query.
final class Membership: Sendable {
  private let container: Container
  private let latest: Mutex<Container.ReadManifest?>

  init(_ container: consuming Container, _ read: Container.ReadManifest) {
    self.container = container
    latest = Mutex(read)
  }

  /// The manifest; nil if the group was removed or its manifest is no longer readable.
  func manifest() -> Manifest? {
    latest.withLock { latest in
      let status = try? container.directory.status(of: Manifest.fileName)
      if status == nil || status != latest?.status { latest = try? container.read() }
      return latest?.manifest
    }
  }

  func open(_ area: Area) throws(GroupError) -> Directory { try container.open(area) }

  func audit(_ text: String) { AuditLog.append(text, in: container) }

  func roles(uid: UInt32, gids: Set<UInt32>) -> [Role] {
    guard let manifest = manifest() else { return [] }
    var gids = gids
    // The kernel reports a peer's primary group only; the others come from the user database.
    if manifest.namesGroups { gids.formUnion(UserAccount.find(uid)?.groupIDs ?? []) }
    return manifest.roles(uid: uid, gids: gids)
  }
}
