import Foundation
import TestSupport
import Testing

@testable import Platform

/// Locations of user and system groups, which depend on the uid, not on the environment.
@Suite(.serialized, .enabled(if: TestUser.canBeCreated, "users can only be created by root"))
final class GroupLocationTests {
  private let user: TestUser
  private let home: TemporaryRoot

  init() throws {
    user = try TestUser()
    home = try TemporaryRoot(mode: 0o755)
    try output(of: "usermod", ["--home", home.path, user.name])
    try output(of: "chown", ["\(user.uid):\(user.gid)", home.path])
  }

  deinit {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/tmp")
    for name in names ?? [] where name.hasPrefix("framebus-\(user.uid)-") {
      try? FileManager.default.removeItem(atPath: "/tmp/" + name)
    }
    try? FileManager.default.removeItem(atPath: "/run/user/\(user.uid)")
  }

  private func framebus(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> ProgramResult {
    try user.run("framebus", arguments, environment: environment)
  }

  /// The paths of a group in a process with this environment.
  private func paths(environment: [String: String?] = [:]) throws -> [String] {
    let result = try framebus("group", "show", "a.b", environment: environment).requireSuccess()
    return result.output.split(separator: "\n").filter {
      $0.hasPrefix("container") || $0.hasPrefix("run ")
    }.map { String($0.split(separator: " ")[1]) }
  }

  private func makeSessionDirectory() throws {
    let path = "/run/user/\(user.uid)"
    try output(of: "install", ["-d", "-o", user.name, "-m", "700", path])
  }

  @Test func userDatabaseDecidesTheLocationNotTheEnvironment() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let desktop: [String: String?] = [
      "HOME": "/tmp", "XDG_STATE_HOME": "/tmp", "XDG_RUNTIME_DIR": "/tmp",
    ]
    #expect(try paths()[0] == home.file(".local/state/framebus/a.b"))
    #expect(try paths() == paths(environment: desktop))
  }

  @Test func groupCreatedFromTheDesktopIsFoundFromCron() throws {
    let state = home.file("state")
    try makeSessionDirectory()
    let desktop: [String: String?] = [
      "XDG_STATE_HOME": state, "XDG_RUNTIME_DIR": "/run/user/\(user.uid)",
    ]
    try framebus("group", "create", "a.b", environment: desktop).requireSuccess()
    #expect(try paths() == [state + "/framebus/a.b", "/run/user/\(user.uid)/framebus/a.b"])
    #expect(try paths() == paths(environment: desktop))
    let other: [String: String?] = ["XDG_STATE_HOME": home.file("other")]
    #expect(try paths() == paths(environment: other))
  }

  @Test func groupCreatedFromCronIsFoundFromTheDesktop() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let before = try paths()
    #expect(before[1].hasPrefix("/tmp/framebus-\(user.uid)-"))
    try makeSessionDirectory()
    #expect(try paths() == before)
    // After a reboot the directory is chosen again.
    try FileManager.default.removeItem(
      atPath: String(before[1].dropLast("/a.b".utf8.count)))
    #expect(try paths()[1] == "/run/user/\(user.uid)/framebus/a.b")
  }

  /// Entries that another user can create in /tmp at a link's target. The shell's arguments are the
  /// path and a directory of the victim.
  private static let plants = [
    "mkdir -m 755 $0", "mkdir -m 700 $0", "mkdir -m 1777 $0", "ln -s / $0", "ln -s $1 $0",
    "ln -s /nowhere $0", "ln -s $0 $0", "mkfifo $0", "echo > $0",
  ]

  @Test(arguments: plants)
  func anotherUsersEntryAtTheRunDirectorysPathIsIgnored(_ plant: String) throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let lost = try String(paths()[1].dropLast("/a.b".utf8.count))
    #expect(lost.hasPrefix("/tmp/framebus-\(user.uid)-"))
    try FileManager.default.removeItem(atPath: lost)
    let stranger = try TestUser()
    try stranger.run("sh", ["-c", plant, lost, home.path]).requireSuccess()
    defer { try? FileManager.default.removeItem(atPath: lost) }
    let found = try paths()[1]
    #expect(found.hasPrefix("/tmp/framebus-\(user.uid)-") && !found.hasPrefix(lost))
    #expect(try paths()[1] == found)
    try framebus("notify", "post", "x", "--group", "a.b").requireSuccess()
    try framebus("group", "remove", "a.b").requireSuccess()
  }

  @Test(arguments: [
    "echo > $0", "mkfifo $0", "ln -s /tmp $0", "ln -s /nowhere/at/all $0", "mkdir -m 777 $0",
    "mkdir $0 && chown nobody $0",
  ])
  func unusableEntryInTheSessionDirectoryIsIgnored(_ plant: String) throws {
    try makeSessionDirectory()
    let location = "/run/user/\(user.uid)/framebus"
    try output(of: "sh", ["-c", plant, location])
    try framebus("group", "create", "a.b").requireSuccess()
    #expect(try paths()[1].hasPrefix("/tmp/framebus-\(user.uid)-"))
  }

  /// An unrelated failure must not make processes use different directories.
  @Test func tooManyOpenFilesDoNotChangeTheRunDirectory() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let before = try paths()
    let program = try pathOfProgram("framebus")
    for limit in 6...24 {
      _ = try user.run(
        "sh", ["-c", "ulimit -n \(limit); \"$0\" group show a.b", program])
    }
    #expect(try paths() == before)
  }

  @Test func anotherUsersStateHomeIsIgnored() throws {
    let foreign = try TemporaryRoot(mode: 0o755)
    try framebus("group", "create", "a.b", environment: ["XDG_STATE_HOME": foreign.path])
      .requireSuccess()
    #expect(try paths()[0] == home.file(".local/state/framebus/a.b"))
  }

  @Test func removedStateHomeIsReplacedByTheNextCreate() throws {
    let lost = try TemporaryRoot(mode: 0o700)
    try output(of: "chown", [user.name, lost.path])
    try framebus("group", "create", "a.b", environment: ["XDG_STATE_HOME": lost.path])
      .requireSuccess()
    try output(of: "rm", ["-r", lost.file("framebus")])
    #expect(try framebus("group", "show", "a.b").errors.contains("there is no group a.b"))
    try framebus("group", "create", "a.b").requireSuccess()
    #expect(try paths()[0] == home.file(".local/state/framebus/a.b"))
  }

  @Test func errorOfAUserWithoutAHomeNamesARemedy() throws {
    try output(of: "usermod", ["--home", "/nonexistent", user.name])
    let result = try framebus("group", "create", "a.b")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("/nonexistent, is missing; choose a directory with --root DIR"))
  }

  @Test func userGroupCannotBeShared() throws {
    try framebus("group", "create", "a.b").requireSuccess()
    let result = try framebus("group", "grant", "capture", "a.b", "--uid", "0")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("cannot be shared; create a group to share with `sudo framebus"))
  }

  @Test func systemGroupIsFoundByItsMembersAndRefusesOthers() throws {
    let id = "test.group-\(UInt32.random(in: 0...(.max)))"
    try run("framebus", ["group", "create", id, "--system"]).requireSuccess()
    defer { _ = try? run("framebus", ["group", "remove", id]) }
    let refused = try framebus("group", "show", id)
    #expect(refused.status == .exited(1))
    #expect(refused.errors.contains("not a member of the group \(id)"))
    try run("framebus", ["group", "grant", "host", id, "--uid", "\(user.uid)"]).requireSuccess()
    let shown = try framebus("group", "show", id).requireSuccess()
    #expect(shown.output.contains("/var/lib/framebus/\(id)\n"))
    #expect(shown.output.contains("/run/framebus/\(id)\n"))
    let own = try framebus("group", "create", id)
    #expect(own.errors.contains("already exists in /var/lib/framebus/\(id)"))
    #expect(try framebus("group", "create", "x.y", "--system").errors.contains("sudo"))
  }
}
