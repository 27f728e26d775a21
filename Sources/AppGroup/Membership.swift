import Platform
import Synchronization

/// Who may be what, as the manifest says now: a change by `framebus group grant` reaches running
/// processes at the next question.
final class Membership: Sendable {
  private let container: Container
  private let latest: Mutex<Container.ReadManifest?>

  init(_ container: consuming Container, _ read: Container.ReadManifest) {
    self.container = container
    latest = Mutex(read)
  }

  /// The manifest; nil if the group was removed or its manifest cannot be read any more.
  func manifest() -> Manifest? {
    latest.withLock { latest in
      let status = try? container.directory.status(of: Manifest.fileName)
      if status == nil || status != latest?.status { latest = try? container.read() }
      return latest?.manifest
    }
  }

  func openDefaults() throws(GroupError) -> Directory { try DefaultsPlace.open(in: container) }

  func audit(_ text: String) { AuditLog.append(text, in: container) }

  func roles(uid: UInt32, gids: Set<UInt32>) -> [Role] {
    guard let manifest = manifest() else { return [] }
    var gids = gids
    // The kernel vouches for a peer's primary group only; the others come from the user database.
    if manifest.namesGroups { gids.formUnion(UserAccount.find(uid)?.groupIDs ?? []) }
    return manifest.roles(uid: uid, gids: gids)
  }
}
