import AppGroup
import Platform
import TestSupport

@testable import SharedDefaults

/// A group in a temporary root, with helpers for using a suite in it.
struct DefaultsWorld {
  let root: TemporaryRoot
  let group: AppGroup

  static let groupName = "org.example.test"
  static let suiteName = "suite"

  init(mode: Int = 0o700) throws {
    root = try TemporaryRoot(mode: mode)
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
  }

  func open() throws -> SharedDefaults { try SharedDefaults(suiteName: Self.suiteName, in: group) }

  /// The path of the suite's file.
  var path: String { "\(group.containerPath)/defaults/\(Self.suiteName).suite" }

  /// Starts a `DefaultsWorker` in this world.
  func worker(_ role: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram("DefaultsWorker", [role, root.path, Self.groupName] + settings)
  }

  /// The names in the group's settings directory.
  func entries() throws -> [String] { try group.openDefaults().names() }
}
