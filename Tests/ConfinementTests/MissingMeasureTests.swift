import Foundation
import Platform
import TestSupport
import Testing

/// Machines and users without some measure: the report says so, the role still runs, and the other
/// measures hold.
@Suite struct MissingMeasureTests {
  /// Or with namespaces that allow no mounts, as on some distributions.
  @Test(arguments: ["namespaces", "roots"])
  func landlockProtectsFilesWithoutAPrivateRoot(lacking: String) throws {
    let world = try ConfinedWorld()
    let outcome = try world.attempt(
      as: "capture", ["read=\(world.secret)", "socket=2"], forbidding: lacking)
    let off = ConfinedWorld.off(
      for: "capture", "private-root", "private-network", "unix-sockets", "file-metadata")
    #expect(outcome.off == off, "\(outcome)")
    #expect(outcome.failed.count == 2, "\(outcome)")
    #expect(outcome.ending == "finished")
  }

  @Test func privateRootProtectsFilesWithoutLandlock() throws {
    let world = try ConfinedWorld()
    let outcome = try world.attempt(
      as: "extension", ["read=\(world.secret)", "socket=2"], forbidding: "landlock")
    // It has the host's network, whose abstract sockets only the scope would hide.
    #expect(outcome.off == ["files", "scope", "unix-sockets"], "\(outcome)")
    #expect(outcome.succeeded == ["socket=2"], "\(outcome)")
    #expect(outcome.description.contains("measure files off Function"))
    #expect(outcome.ending == "finished")
  }

  @Test func privateNetworkHidesAbstractSocketsWithoutLandlock() throws {
    let world = try ConfinedWorld()
    let screen = try VirtualScreen()
    let attempt = "abstract=/tmp/.X11-unix/X\(screen.display.dropFirst())"
    let capture = try world.attempt(as: "capture", [attempt], forbidding: "landlock")
    #expect(capture.off == ["files", "scope"], "\(capture)")
    #expect(capture.failed == [attempt], "\(capture)")
    let upload = try world.attempt(as: "extension", [attempt], forbidding: "landlock")
    #expect(upload.succeeded == [attempt], "\(upload)")
  }

  @Test func privateNetworkAndLandlockWorkWithoutFilters() throws {
    let world = try ConfinedWorld()
    let outcome = try world.attempt(
      as: "capture", ["read=\(world.secret)", "port=9", "socket=2"], forbidding: "filters")
    let off = ConfinedWorld.off(for: "capture", "system-calls", "internet")
    #expect(outcome.off == off, "\(outcome)")
    #expect(outcome.succeeded == ["socket=2"], "\(outcome)")
    #expect(outcome.ending == "finished")
  }

  @Test(.enabled(if: TestUser.canBeCreated, "only root can hide a file system"))
  func withoutControlGroupsTheBudgetExcludesChildrenAndTheReportSaysSo() throws {
    let world = try ConfinedWorld()
    let host = try RunningProgram(
      withoutControlGroups: "RoleHost",
      ["role=extension", "root=\(world.root.path)", "memory=60", "--", "BreakOut", "allocate=400"])
    let outcome = ConfinedWorld.Outcome(try host.finish())
    let off = ConfinedWorld.off(for: "extension", "children-memory")
    #expect(outcome.off == off, "\(outcome)")
    #expect(outcome.ending.contains("exceeded its memory budget of 60 MiB"), "\(outcome)")
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func unprivilegedUserConfinesRolesOfItsOwnGroupByAllMeasures() throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    let own = try TemporaryRoot()
    try output(of: "chown", ["\(user.uid)", own.path])
    let location = ["--group=a.b", "--root=\(own.path)"]
    let made = try user.run("framebus", ["group", "create", "a.b", "--root=\(own.path)"])
    #expect(made.status.isSuccess, "\(made.errors)")
    let outcome = try world.attempt(
      as: "capture",
      ["read=\(world.secret)", "socket=2", "ring", "peek=\(getpid())", "list=/", "own"],
      ["root=\(own.path)"], user: user)
    #expect(outcome.off == ConfinedWorld.off(for: "capture"), "\(outcome)")
    #expect(outcome.succeeded == ["own"], "\(outcome)")
    #expect(outcome.own.allSatisfy { $0.hasPrefix("variable ") }, "\(outcome)")
    let post = try world.start(
      "extension", ["framebus", "notify", "post", "x.y"] + location, ["root=\(own.path)"], as: user)
    #expect(ConfinedWorld.Outcome(try post.finish()).ending == "finished", "\(post.transcript)")
  }

  /// Root needs user namespaces for the role's own limits, not for a private root.
  @Test(.enabled(if: TestUser.canBeCreated, "only root has a private root by itself"))
  func withoutUserNamespacesTheReportSaysThatInotifyIsUnlimitedForRoot() throws {
    let world = try ConfinedWorld()
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\""
    let host = try RunningProgram(
      "unshare",
      ["--user", "--map-root-user", "sh", "-c", script, try pathOfProgram("RoleHost")]
        + ["role=capture", "root=\(world.root.path)", "--", "BreakOut", "watches=33", "list=/tmp"])
    let outcome = ConfinedWorld.Outcome(try host.finish())
    #expect(outcome.off == ConfinedWorld.off(for: "capture", "inotify"), "\(outcome)")
    #expect(outcome.succeeded == ["watches=33"], "\(outcome)")
  }

  /// In a user namespace it could not distinguish the group's other users.
  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func unprivilegedUserHasNoPrivateRootInAGroupOfSeveralUsers() throws {
    let world = try ConfinedWorld()
    let user = try TestUser()
    try output(
      of: "framebus",
      ["group", "grant", "capture", "--uid", "\(user.uid)", "--group=a.b"]
        + ["--root=\(world.root.path)"])
    let outcome = try world.attempt(
      as: "capture", ["read=\(world.secret)", "socket=2", "peek=\(getpid())"], user: user)
    let off = ConfinedWorld.off(
      for: "capture", "private-root", "private-network", "unix-sockets", "file-metadata")
    #expect(outcome.off == off, "\(outcome)")
    #expect(outcome.failed.count == 3, "\(outcome)")
    #expect(outcome.description.contains("private-root off only root may"))
  }
}
