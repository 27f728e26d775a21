import Foundation
import Platform
import TestSupport
import Testing

/// What a role could leave behind, change or slow down outside its own process. Each attempt
/// succeeds without confinement.
@Suite struct PrivilegeTests {
  private func expectConfined(
    _ role: String, _ attempts: [String], _ settings: [String] = [], user: TestUser? = nil,
    in world: ConfinedWorld, source: SourceLocation = #_sourceLocation
  ) throws {
    let free = try world.attempt(as: "none", attempts, user: user)
    #expect(free.succeeded == Set(attempts), "\(free)", sourceLocation: source)
    let confined = try world.attempt(as: role, attempts, settings, user: user)
    #expect(confined.failed == Set(attempts), "\(confined)", sourceLocation: source)
    #expect(confined.ending == "finished", "\(confined)", sourceLocation: source)
  }

  @Test(arguments: ["capture", "extension"])
  func rolesCannotCreateSetUserIDFiles(role: String) throws {
    let world = try ConfinedWorld()
    let calls = [
      "chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat", "openat2", "creat", "tmpfile",
      "mknod", "mknodat",
    ]
    let free = world.root.file("free")
    try FileManager.default.createDirectory(atPath: free, withIntermediateDirectories: true)
    let unconfined = try world.attempt(as: "none", calls.map { "set-id.\($0)=\(free)" })
    #expect(unconfined.failed.isEmpty, "\(unconfined)")
    let attempts = calls.map { "set-id.\($0)=\(world.group.streamsPath)" }
    let confined = try world.attempt(as: role, attempts)
    #expect(confined.failed == Set(attempts), "\(confined)")
    let streams = try Directory(path: world.group.streamsPath)
    let modes = try streams.names().map { try streams.status(of: $0)?.mode ?? 0 }
    #expect(modes.allSatisfy { $0 & 0o6000 == 0 })
  }

  @Test(.enabled(if: TestUser.canBeCreated, "only root may set capabilities of files"))
  func rolesCannotSetFileCapabilitiesOrCreateLinks() throws {
    let world = try ConfinedWorld()
    let streams = world.group.streamsPath
    let manifest = world.group.containerPath + "/manifest.toml"
    try expectConfined(
      "extension",
      ["capability=\(streams)", "link=\(manifest):\(streams)", "lease=\(manifest)"], in: world)
  }

  /// As an unprivileged user: the kernel itself protects root's processes.
  @Test(
    .enabled(if: TestUser.canBeCreated, "users can only be created by root"),
    arguments: ["capture", "extension"])
  func rolesCannotSlowOtherProcesses(role: String) throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    try grant(role, to: user, in: world)
    let calls = [
      "setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity",
      "ioprio_set", "move_pages",
    ]
    let victim = try user.start("/usr/bin/setsid", ["/usr/bin/sleep", "1000"])
    let number = victim.processID
    try waitUntil("it has a group of its own") { getpgid(number) == number }
    try expectConfined(
      role,
      (calls + ["setpriority-group"]).map { "slow.\($0)=\(number)" } + [
        "slow.setpriority-user=0", "write=/proc/\(number)/oom_score_adj",
      ], user: user, in: world)
    try victim.end(with: SIGTERM)
    // What a role does to itself is allowed.
    let own = try world.attempt(as: role, calls.map { "slow.\($0)=0" }, user: user)
    #expect(own.failed.isEmpty, "\(own)")
  }

  private func grant(_ role: String, to user: TestUser, in world: ConfinedWorld) throws {
    try output(
      of: "framebus",
      ["group", "grant", role, "--uid", "\(user.uid)", "--group=a.b", "--root=\(world.root.path)"])
  }

  /// No private root hides the user's other files, and Landlock does not cover permissions, owners,
  /// times and attributes.
  @Test(
    .enabled(if: TestUser.canBeCreated, "users can only be created by root"),
    arguments: ["capture", "extension"])
  func roleWithoutPrivateRootCannotChangeItsUsersFiles(role: String) throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    try grant(role, to: user, in: world)
    let key = world.root.file("key")
    try Data("sealed".utf8).write(to: URL(fileURLWithPath: key))
    try output(of: "chown", ["\(user.uid):\(user.gid)", key])
    try output(of: "chmod", ["600", key])
    let attributes = ["setxattr", "getxattr", "listxattr", "removexattr"]
    let calls =
      [
        "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes",
        "futimesat", "utimensat", "lsetxattr",
      ] + attributes
    try expectConfined(
      role, calls.map { "change.\($0)=\(key)" } + ["observe=\(world.root.path)"], user: user,
      in: world)
    // By a descriptor, for files that it may read or even write.
    let readable = world.group.streamsPath + "/readable"
    try Data("x".utf8).write(to: URL(fileURLWithPath: readable))
    try output(of: "chown", ["\(user.uid):\(user.gid)", readable])
    try expectConfined(
      role,
      ["fchmod", "fchown", "futimens", "fsetxattr", "flags"].map { "change.\($0)=\(readable)" },
      user: user, in: world)
    let outcome = try world.attempt(as: role, ["change.chmod=\(key)"], user: user)
    #expect(outcome.off.isSuperset(of: ["private-root", "file-metadata"]), "\(outcome)")
  }

  /// By the limits of a user namespace, which a role of any user has.
  @Test func roleLeavesItsUserInotifyInstances() throws {
    let world = try ConfinedWorld()
    // Other processes of this user hold some of its 128.
    try waitUntil("48 instances are left") {
      try world.attempt(as: "none", ["watches=48"]).failed.isEmpty
    }
    try expectConfined("capture", ["watches=33"], in: world)
    #expect(try world.attempt(as: "capture", ["watches=10"]).failed.isEmpty)
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func roleOfUnprivilegedUserLeavesItInotifyInstances() throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    let own = try TemporaryRoot()
    try output(of: "chown", ["\(user.uid)", own.path])
    let made = try user.run("framebus", ["group", "create", "a.b", "--root=\(own.path)"])
    #expect(made.status.isSuccess, "\(made.errors)")
    try expectConfined("extension", ["watches=100"], ["root=\(own.path)"], user: user, in: world)
    // In a group of several users, it has neither a namespace nor inotify.
    try grant("capture", to: user, in: world)
    try expectConfined("capture", ["watches=1"], user: user, in: world)
  }

  /// Root has no such limit for descriptors.
  @Test(
    .enabled(if: TestUser.canBeCreated, "users can only be created by root"),
    arguments: ["none", "capture", "extension"])
  func roleLeavesItsUserDescriptorsToPassAndSignalsToQueue(role: String) throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    if role != "none" { try grant(role, to: user, in: world) }
    let thief = try world.start(
      role, ["BreakOut", "fill-descriptors", "fill-signals", "hold"], as: user)
    try thief.waitForOutput("holds")
    let other = try user.run("BreakOut", ["pass", "enqueue"])
    let isLeft = "pass: did\nenqueue: did\n"
    let isTaken = "pass: ETOOMANYREFS\nenqueue: EAGAIN\n"
    #expect(other.output == (role == "none" ? isTaken : isLeft), "\(thief.transcript)")
    // Waited for by its host, because its signals count until then.
    let line = thief.output.text.split(separator: "\n").last { $0.hasPrefix("role ") }
    kill(try #require(Int32(line?.dropFirst("role ".count) ?? "")), SIGKILL)
    try thief.finish()
  }
}
