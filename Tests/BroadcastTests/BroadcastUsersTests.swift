import AppGroup
import CredentialStore
import Foundation
import Platform
import TestSupport
import Testing

/// Broadcasts of several users on one machine, in separate groups and in a shared one.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct BroadcastUsersTests {
  private static let start = [
    "broadcast", "start", "framebus.upload", "--yes", "--source", "test:gradient", "--size",
    "64x48",
  ]
  private static let register = ["extension", "register", "--builtin", "null"]

  /// A user with a group.
  private struct Owner {
    let user: TestUser
    let root: TemporaryRoot
    var location: [String] { ["--root", root.path, "--group", "a.b"] }

    init() throws {
      user = try TestUser()
      root = try TemporaryRoot()
      try output(of: "chown", ["\(user.uid)", root.path])
      for command in [["group", "create", "a.b", "--root", root.path], location + register] {
        let result = try user.run("framebus", command)
        #expect(result.status.isSuccess, "\(result.errors)")
      }
    }
  }

  private func status(_ result: ProgramResult) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any], "\(result.errors)")
  }

  /// The users that the roles of a broadcast run as.
  private func users(of status: [String: Any]) throws -> Set<UInt32> {
    let roles = try #require(status["roles"] as? [String: [String: Any]])
    let pids = roles.values.compactMap { $0["pid"] as? Int }
    #expect(pids.count == 3, "\(roles)")
    return try Set(
      pids.map { pid in
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(
          status.split(separator: "\n").first { $0.hasPrefix("Uid:") })
        return try #require(UInt32(line.split(whereSeparator: \.isWhitespace)[1]))
      })
  }

  @Test func broadcastsOfTwoUsersAreIsolated() throws {
    try withWatchdog {
      let owners = try [Owner(), Owner()]
      let hosts = try owners.map { try $0.user.start("framebus", $0.location + Self.start) }
      func status(of owner: Owner) throws -> [String: Any] {
        try self.status(
          owner.user.run("framebus", owner.location + ["broadcast", "status", "--json"]))
      }
      for (owner, host) in zip(owners, hosts) {
        try waitUntil("it is live: \(host.transcript)") {
          try status(of: owner)["phase"] as? String == "live"
        }
        #expect(try users(of: status(of: owner)) == [owner.user.uid])
      }
      for verb in ["status", "pause", "stop"] {
        let foreign = try owners[1].user.run("framebus", owners[0].location + ["broadcast", verb])
        #expect(foreign.status == .exited(1), "\(verb): \(foreign.output)")
        #expect(foreign.errors.hasPrefix("error: "), "\(foreign.errors)")
      }
      #expect(try status(of: owners[0])["phase"] as? String == "live")
      for (owner, host) in zip(owners, hosts) {
        let stopped = try owner.user.run("framebus", owner.location + ["broadcast", "stop"])
        #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }
  }

  /// The group's owner registers the extension; one user is the host, another also has that role.
  @Test func onlyHostsControlAnotherUsersBroadcast() throws {
    try withWatchdog {
      let root = try TemporaryRoot(mode: 0o755)
      let location = ["--root", root.path, "--group", "a.b"]
      func framebus(_ arguments: [String]) throws {
        let result = try run("framebus", location + arguments)
        #expect(result.status.isSuccess, "\(result.errors)")
      }
      let (host, helper, capturer) = (try TestUser(), try TestUser(), try TestUser())
      try framebus(["group", "create", "a.b"])
      for role in ["host", "capture", "extension"] {
        try framebus(["group", "grant", role, "--uid", "\(host.uid)"])
      }
      try framebus(["group", "grant", "host", "--uid", "\(helper.uid)"])
      try framebus(["group", "grant", "capture", "--uid", "\(capturer.uid)"])
      try framebus(Self.register)
      let process = try host.start("framebus", location + Self.start)
      func status() throws -> [String: Any] {
        try self.status(helper.run("framebus", location + ["broadcast", "status", "--json"]))
      }
      try waitUntil("it is live: \(process.transcript)") {
        try status()["phase"] as? String == "live"
      }
      #expect(try users(of: status()) == [host.uid])
      // In a private root, the group's users could not be distinguished.
      let roles = try #require(try status()["roles"] as? [String: [String: Any]])
      let confinement = try #require(roles["extension"]?["confinement"] as? String)
      #expect(confinement.contains("without private-root"), "\(confinement)")

      let refused = try capturer.run("framebus", location + ["broadcast", "pause"])
      #expect(refused.status == .exited(1))
      #expect(refused.errors.contains("host"), "\(refused.errors)")
      let paused = try helper.run("framebus", location + ["broadcast", "pause"])
      #expect(paused.status.isSuccess, "\(paused.errors)")
      try waitUntil("it is paused") { try status()["phase"] as? String == "paused" }
      let stopped = try helper.run("framebus", location + ["broadcast", "stop"])
      #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")
      #expect(try process.finish().status == .exited(0), "\(process.transcript)")
    }
  }

  /// A group of root's, in which each user may be host, capture and extension.
  private struct Shared {
    let root: TemporaryRoot
    let users: [TestUser]
    var location: [String] { ["--root", root.path, "--group", "a.b"] }

    init(userCount: Int) throws {
      root = try TemporaryRoot(mode: 0o755)
      users = try (0..<userCount).map { _ in try TestUser() }
      try framebus(["group", "create", "a.b"])
      for user in users {
        for role in ["host", "capture", "extension"] {
          try framebus(["group", "grant", role, "--uid", "\(user.uid)"])
        }
      }
      try framebus(BroadcastUsersTests.register)
    }

    private func framebus(_ arguments: [String]) throws {
      let result = try run("framebus", location + arguments)
      #expect(result.status.isSuccess, "\(result.errors)")
    }

    func start(by user: TestUser, _ options: [String] = []) throws -> RunningProgram {
      let host = try user.start("framebus", location + BroadcastUsersTests.start + options)
      try host.waitForErrors("live")
      return host
    }

    func stop(by user: TestUser) throws -> ProgramResult {
      try user.run("framebus", location + ["broadcast", "stop"])
    }
  }

  @Test func usersOfOneGroupBroadcastInTurn() throws {
    try withWatchdog {
      let shared = try Shared(userCount: 2)
      for user in shared.users + shared.users {
        let host = try shared.start(by: user)
        let stopped = try shared.stop(by: user)
        #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }
  }

  /// Only the owner can seal it. The host learns that before anything is created or recorded.
  @Test func onlyOwnerPassesSetupInformationOn() throws {
    try withWatchdog {
      let shared = try Shared(userCount: 1)
      func refusal() throws -> String {
        let result = try shared.users[0].run(
          "framebus", shared.location + Self.start + ["--title", "a talk"])
        #expect(result.status == .exited(1) && result.output.isEmpty)
        return result.errors
      }
      let expected =
        "error: only the group's owner can pass a title, values or credentials to an extension;"
        + " ask the owner\n"
      #expect(try refusal() == expected)
      #expect(!FileManager.default.fileExists(atPath: shared.root.file("state/a.b/credentials")))
      _ = try CredentialStore.create(in: AppGroup.open(GroupID("a.b"), root: shared.root.path))
      #expect(try refusal() == expected)
      let status = try run("framebus", shared.location + ["broadcast", "status", "--json"])
      #expect(status.output.contains("\"phase\" : \"idle\""), "\(status.output)")
    }
  }

  /// The host's role was granted after the extension was registered.
  @Test func grantOfHostReachesRegisteredExtensions() throws {
    try withWatchdog {
      let root = try TemporaryRoot(mode: 0o755)
      let location = ["--root", root.path, "--group", "a.b"]
      for command in [["group", "create", "a.b"], Self.register] {
        let result = try run("framebus", location + command)
        #expect(result.status.isSuccess, "\(result.errors)")
      }
      let user = try TestUser()
      for role in ["capture", "extension", "host"] {
        let granted = try run(
          "framebus", location + ["group", "grant", role, "--uid", "\(user.uid)"])
        #expect(granted.status.isSuccess && !granted.errors.contains("warning"), "\(granted)")
        // Only hosts read manifests.
        let listed = try user.run("framebus", location + ["extension", "list"])
        #expect(listed.output.contains("framebus.upload") == (role == "host"), "\(listed)")
      }
      let host = try user.start("framebus", location + Self.start)
      try host.waitForErrors("live")
      let stopped = try user.run("framebus", location + ["broadcast", "stop"])
      #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")
      #expect(try host.finish().status == .exited(0), "\(host.transcript)")
    }
  }

  /// Only its user may end a capture that lost its host, because that user's screen is captured.
  @Test func orphanedCaptureOfAnotherUserIsNotBroadcast() throws {
    try withWatchdog {
      let shared = try Shared(userCount: 2)
      let (first, second) = (shared.users[0], shared.users[1])
      let host = try shared.start(by: first)
      try host.end(with: SIGKILL)
      let stopped = try shared.stop(by: second)
      #expect(stopped.errors.contains(" finished"), "\(stopped.errors)")

      let refused = try second.run("framebus", shared.location + Self.start)
      #expect(refused.status == .exited(1))
      #expect(
        refused.errors.contains("of user \(first.uid) publishes the stream “screen”"),
        "\(refused.errors)")
      let left = try shared.stop(by: second)
      #expect(left.status == .exited(1))
      #expect(left.errors.contains("of user \(first.uid), a capture of a"), "\(left.errors)")
      let named = try shared.start(by: second, ["--stream", "mine"])
      #expect(try shared.stop(by: second).errors.contains(" finished"))
      #expect(try named.finish().status == .exited(0), "\(named.transcript)")

      let ended = try shared.stop(by: first)
      #expect(ended.errors.contains("left running"), "\(ended.errors)")
      let again = try shared.start(by: second)
      #expect(try shared.stop(by: second).errors.contains(" finished"))
      #expect(try again.finish().status == .exited(0), "\(again.transcript)")
    }
  }
}
