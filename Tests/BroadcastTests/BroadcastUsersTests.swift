import Foundation
import Platform
import TestSupport
import Testing

/// Several users of one machine: with broadcasts of their own, and with one of a group they share.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct BroadcastUsersTests {
  private static let start = [
    "broadcast", "start", "framebus.upload", "--source", "test:gradient", "--size", "64x48",
  ]
  private static let register = ["extension", "register", "--builtin", "null"]

  /// A user, and the place of a group that is theirs.
  private struct Owner {
    let user: TestUser
    let root: TemporaryRoot
    var place: [String] { ["--root", root.path, "--group", "a.b"] }

    init() throws {
      user = try TestUser()
      root = try TemporaryRoot()
      try output(of: "chown", ["\(user.uid)", root.path])
      for command in [["group", "create", "a.b", "--root", root.path], place + register] {
        let result = try user.run("framebus", command)
        #expect(result.status.isSuccess, "\(result.errors)")
      }
    }
  }

  private func status(_ result: ProgramResult) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any], "\(result.errors)")
  }

  /// The user that each role of a broadcast runs as.
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

  @Test func twoUsersBroadcastsDoNotSeeEachOther() throws {
    try withWatchdog {
      let owners = try [Owner(), Owner()]
      let hosts = try owners.map { try $0.user.start("framebus", $0.place + Self.start) }
      func status(of owner: Owner) throws -> [String: Any] {
        try self.status(
          owner.user.run("framebus", owner.place + ["broadcast", "status", "--json"]))
      }
      for (owner, host) in zip(owners, hosts) {
        try waitUntil("it is live: \(host.transcript)") {
          try status(of: owner)["phase"] as? String == "live"
        }
        #expect(try users(of: status(of: owner)) == [owner.user.uid])
      }
      for verb in ["status", "pause", "stop"] {
        let foreign = try owners[1].user.run("framebus", owners[0].place + ["broadcast", verb])
        #expect(foreign.status == .exited(1), "\(verb): \(foreign.output)")
        #expect(foreign.errors.hasPrefix("error: "), "\(foreign.errors)")
      }
      #expect(try status(of: owners[0])["phase"] as? String == "live")
      for (owner, host) in zip(owners, hosts) {
        let stopped = try owner.user.run("framebus", owner.place + ["broadcast", "stop"])
        #expect(stopped.errors.hasSuffix("finished\n"), "\(stopped.errors)")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
      }
    }
  }

  /// The group's owner registers the extension; one user is the host, another helps.
  @Test func whoHoldsTheRoleOfHostLeadsAnothersBroadcastAndNobodyElseDoes() throws {
    try withWatchdog {
      let root = try TemporaryRoot(mode: 0o755)
      let place = ["--root", root.path, "--group", "a.b"]
      func framebus(_ arguments: [String]) throws {
        let result = try run("framebus", place + arguments)
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
      let process = try host.start("framebus", place + Self.start)
      func status() throws -> [String: Any] {
        try self.status(helper.run("framebus", place + ["broadcast", "status", "--json"]))
      }
      try waitUntil("it is live: \(process.transcript)") {
        try status()["phase"] as? String == "live"
      }
      #expect(try users(of: status()) == [host.uid])
      // Users of one group could not be told apart in a private root.
      let roles = try #require(try status()["roles"] as? [String: [String: Any]])
      let confinement = try #require(roles["extension"]?["confinement"] as? String)
      #expect(confinement.contains("without private-root"), "\(confinement)")

      let refused = try capturer.run("framebus", place + ["broadcast", "pause"])
      #expect(refused.status == .exited(1))
      #expect(refused.errors.contains("host"), "\(refused.errors)")
      let paused = try helper.run("framebus", place + ["broadcast", "pause"])
      #expect(paused.status.isSuccess, "\(paused.errors)")
      try waitUntil("it is paused") { try status()["phase"] as? String == "paused" }
      let stopped = try helper.run("framebus", place + ["broadcast", "stop"])
      #expect(stopped.errors.hasSuffix("finished\n"), "\(stopped.errors)")
      #expect(try process.finish().status == .exited(0), "\(process.transcript)")
    }
  }
}
