import AppGroup
import FrameBus
import NotifyCenter

/// Keeps the notification `framebus.captured` as ``ScreenCapturedState`` says: its state is 1 or 0,
/// and each change is posted. Any number of processes may keep it at once; one of them posts.
///
/// Programs that publish or read streams keep it while they run. So a publisher or a subscriber
/// that is killed leaves one that corrects it.
package final class CapturedAnnouncer: Sendable {
  package static let name = "framebus.captured"

  private let announcement: Announcement
  private let watch: CapturedWatch

  /// - Throws: if this process may not post the notification in this role, or cannot watch streams.
  package init(in group: AppGroup, as role: Role) throws {
    let announcement = try Announcement(group, role)
    self.announcement = announcement
    // A change that cannot be posted is posted by another process, or with the next change.
    watch = try CapturedWatch(group) { _ in try? announcement.update() }
    try announcement.update()
  }

  /// Corrects the notification once more and stops keeping it.
  package func end() {
    watch.end()
    try? announcement.update()
  }

  /// Corrects the notification once, for a process that is about to read it; does nothing in a
  /// process that may not post it.
  package static func update(in group: AppGroup) {
    guard let role = group.ownRoles.first(where: Role.publishing.contains) else { return }
    try? Announcement(group, role).update()
  }

  private struct Announcement: Sendable {
    private static let maximumAttempts = 16

    private let center: NotifyCenter
    private let name: NotificationName
    private let state: ScreenCapturedState

    init(_ group: AppGroup, _ role: Role) throws(NotifyError) {
      center = try NotifyCenter(group, role: role, isSystem: true)
      name = try NotificationName(CapturedAnnouncer.name)
      state = ScreenCapturedState(in: group)
    }

    /// Repeated after a change, because another process may have written an older value meanwhile.
    /// Bounded, because any publishing member can write the state.
    func update() throws {
      for _ in 0..<Self.maximumAttempts {
        let old = try center.state(of: name)
        let new: UInt64 = try state.isCaptured ? 1 : 0
        if old == new { return }
        if try center.replaceState(old, with: new, of: name) { try center.post(name) }
      }
    }
  }
}
