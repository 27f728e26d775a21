import Foundation
import Platform
import TestSupport
import Testing

/// Roles with a memory budget whose host is a systemd service, with control groups of version 2.
@Suite(.enabled(if: SystemdUnit.canBeMade, "systemd does not run here, as it does in scripts/vm"))
struct SystemdUnitTests {
  private let world: ConfinedWorld

  init() throws { world = try ConfinedWorld() }

  /// A host in a unit, and its role, which outlives it.
  private func unit(
    isDelegated: Bool, as user: TestUser? = nil, _ command: String...
  ) throws -> SystemdUnit {
    if let user {
      try output(
        of: "framebus",
        [
          "group", "grant", "extension", "--uid=\(user.uid)", "--group=a.b",
          "--root=\(world.root.path)",
        ])
    }
    let settings = ["role=extension", "root=\(world.root.path)", "memory=64", "bond=outlives"]
    let unit = try SystemdUnit(
      "RoleHost", settings + ["--"] + command, isDelegated: isDelegated, as: user)
    try unit.program.waitForOutput("\nrole ", within: .seconds(120))
    return unit
  }

  /// The process that the host started, as it reports.
  private func role(of unit: SystemdUnit) throws -> Int32 {
    let line = unit.program.output.text.split(separator: "\n").last { $0.hasPrefix("role ") }
    return try #require(Int32(line?.dropFirst("role ".count) ?? ""))
  }

  /// The control group that a process is in.
  private func group(of process: Int32) -> String {
    String(kernelText("/proc/\(process)/cgroup").dropFirst("0::".count).dropLast())
  }

  private func expectEnd(of process: Int32, _ stop: () throws -> Void) throws {
    guard let watch = ProcessWatch(process) else {
      throw HarnessError("\(process) is gone before its time")
    }
    try stop()
    let isGone = try watch.waitForEnd(until: .after(.seconds(60)))
    #expect(isGone)
  }

  @Test(arguments: [false, true])
  func roleHasAGroupBelowItsHostsUnitAndEndsWithIt(isOfAUser: Bool) throws {
    let user = isOfAUser ? try TestUser() : nil
    let unit = try unit(isDelegated: true, as: user, "/usr/bin/sleep", "1000")
    #expect(unit.program.output.text.contains("measure children-memory on "))
    let role = try role(of: unit)
    #expect(group(of: role).hasPrefix(unit.group + "/framebus-"))
    try expectEnd(of: role) { try unit.stop() }
  }

  @Test func roleStaysInAUnitThatMayNotCreateGroups() throws {
    let unit = try unit(isDelegated: false, "/usr/bin/sleep", "1000")
    #expect(unit.program.output.text.contains("measure children-memory off "))
    let role = try role(of: unit)
    #expect(group(of: role) == unit.group)
    try expectEnd(of: role) { try unit.stop() }
  }

  @Test(arguments: [false, true])
  func childThatExceedsTheMemoryLimitEndsTheRole(isOfAUser: Bool) throws {
    let user = isOfAUser ? try TestUser() : nil
    let unit = try unit(
      isDelegated: true, as: user, "/bin/sh", "-c", "tail /dev/zero; sleep 1000")
    let output = try unit.program.finish().output
    #expect(output.contains("ended was ended, because it exceeded its memory budget"), "\(output)")
  }
}
