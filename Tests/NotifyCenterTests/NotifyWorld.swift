import AppGroup
import NotifyCenter
import Platform
import Synchronization
import TestSupport

/// A group in a temporary root, and helpers to use notifications in it.
struct NotifyWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let center: NotifyCenter
  private let recheckMs: Int

  static let groupName = "org.example.test"

  /// - Parameters:
  ///   - mode: 0o755 for a root that other users must reach.
  ///   - rechecks: whether observers poll once a second without a ring. Usually false, so that a
  ///     test can pass only because of the hand-shake.
  init(mode: Int = 0o700, rechecks: Bool = false) throws {
    recheckMs = rechecks ? 1000 : 3_600_000
    root = try TemporaryRoot(mode: mode)
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    center = try Self.center(of: group, recheckMs)
  }

  func newCenter() throws -> NotifyCenter { try Self.center(of: group, recheckMs) }

  private static func center(of group: AppGroup, _ recheckMs: Int) throws -> NotifyCenter {
    try NotifyCenter(
      group, role: .host, isSystem: false, recheckInterval: .milliseconds(recheckMs))
  }

  /// Starts a `NotifyWorker` in this world.
  func worker(_ work: String, _ name: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram("NotifyWorker", arguments(work, name) + settings)
  }

  func worker(
    as user: TestUser, _ work: String, _ name: String, _ settings: String...
  ) throws -> RunningProgram {
    try user.start("NotifyWorker", arguments(work, name) + settings)
  }

  func arguments(_ work: String, _ name: String) -> [String] {
    [work, root.path, Self.groupName, name, "recheckMs=\(recheckMs)"]
  }

  /// The directory of a table.
  func path(_ rest: String) -> String { "\(group.notifyPath)/\(rest)" }
}

func name(_ text: String) throws -> NotificationName { try NotificationName(text) }

/// Keeps what was delivered, for a test to wait for.
final class Inbox: Sendable {
  private let all = Mutex<[Delivery]>([])

  func add(_ delivery: Delivery) { all.withLock { $0.append(delivery) } }

  var deliveries: [Delivery] { all.withLock { $0 } }
  /// The total number of posts delivered.
  var posts: UInt64 { deliveries.reduce(0) { $0 + $1.coalesced } }

  func wait(forPosts count: UInt64) throws {
    try waitUntil("\(count) posts were delivered, not \(posts)") { posts >= count }
  }
}

extension NotifyCenter {
  func observe(_ text: String, _ inbox: Inbox) throws -> Observation {
    try observe(name(text)) { inbox.add($0) }
  }

  @discardableResult
  func post(_ text: String) throws -> UInt64 { try post(name(text)) }
}
