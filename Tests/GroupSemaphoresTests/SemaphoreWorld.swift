import AppGroup
import GroupSemaphores
import Platform
import TestSupport

/// A group in a temporary root, with shorthands for one semaphore in it.
struct SemaphoreWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let name: SemaphoreName

  static let groupName = "org.example.test"

  init(_ name: String = "gate") throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    self.name = try SemaphoreName(name)
  }

  func make(_ value: Int = 1, recoverable: Bool = false) throws -> GroupSemaphore {
    try GroupSemaphore.create(name, in: group, initialValue: value, recoverable: recoverable)
  }

  func open() throws -> GroupSemaphore { try GroupSemaphore.open(name, in: group) }

  /// The semaphore's file.
  var path: String { "\(group.semaphoresPath)/\(name).semaphore" }

  /// Starts a `SemaphoreWorker` in this world.
  func worker(_ role: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram(
      "SemaphoreWorker", [role, root.path, Self.groupName, name.text] + settings)
  }

  /// Starts the C program on the semaphore's file.
  func peer(_ arguments: String...) throws -> RunningProgram {
    try RunningProgram("SemaphorePeer", [path] + arguments)
  }
}

extension RunningProgram {
  /// The number of `futex(2)`; that of `futex_waitv(2)` is 449 on every architecture.
  #if arch(arm64)
    private static let futex = 98
  #else
    private static let futex = 202
  #endif

  /// Waits until the process sleeps in `futex_waitv(2)` or `futex(2)`, according to
  /// `/proc/PID/syscall`.
  func waitUntilAsleep() throws {
    try waitForOutput("waiting")
    try waitUntil("\(name) sleeps") {
      let call = try? TestSupport.output(of: "cat", ["/proc/\(processID)/syscall"])
      return ["449 ", "\(Self.futex) "].contains { call?.hasPrefix($0) == true }
    }
  }
}
