import AppGroup
import FrameBus
import NotifyCenter

/// Keeps the notification `framebus.captured` as ``ScreenCapturedState`` says: its state is 1 or 0,
/// and each change is posted. Any number of processes may keep it at once; one of them posts.
///
/// Programs that publish or read streams keep it while they run. So a publisher or a subscriber
/// that is killed leaves one that corrects it, also if it was killed between two steps of a change.
package final class CapturedAnnouncer: Sendable {
  package static let name = "framebus.captured"
  /// How often to compare the state with the value.
  private static let recheckInterval = Duration.seconds(1)

  private let announcement: Announcement
  private let watch: CapturedWatch

  /// - Throws: if this process may not post the notification in this role, or cannot watch streams.
  package init(in group: AppGroup, as role: Role) throws {
    let announcement = try Announcement(group, role)
    self.announcement = announcement
    // A change that cannot be posted is posted by another process, or with the next comparison.
    watch = try CapturedWatch(group, repeatingEvery: Self.recheckInterval) {
      try? announcement.keep($0)
    }
    try announcement.update()
  }

  /// The same in the first role of this user that may post it; nil if there is none.
  package static func start(in group: AppGroup) -> CapturedAnnouncer? {
    publishingRole(in: group).flatMap { try? CapturedAnnouncer(in: group, as: $0) }
  }

  private static func publishingRole(in group: AppGroup) -> Role? {
    group.ownRoles.first(where: Role.publishing.contains)
  }

  /// Corrects the notification once more and stops keeping it.
  package func end() {
    watch.end()
    try? announcement.update()
  }

  /// Corrects the notification once, for a process that is about to read it; does nothing in a
  /// process that may not post it.
  package static func update(in group: AppGroup) {
    guard let role = publishingRole(in: group) else { return }
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

    /// Corrects the state if it is not as the value, which costs no look at the streams.
    func keep(_ isCaptured: Bool) throws {
      if try center.state(of: name) != (isCaptured ? 1 : 0) { try update(otherwise: isCaptured) }
    }

    /// Repeated after a change, because another process may have written an older value meanwhile.
    /// Bounded, because any publishing member can write the state.
    /// - Parameter known: the value to take if the streams cannot be read.
    func update(otherwise known: Bool? = nil) throws {
      for _ in 0..<Self.maximumAttempts {
        let old = try center.state(of: name)
        guard let isCaptured = (try? state.isCaptured) ?? known else { return }
        let new: UInt64 = isCaptured ? 1 : 0
        if old == new { return }
        if try center.replaceState(old, with: new, of: name) { try center.post(name) }
      }
    }
  }
}
