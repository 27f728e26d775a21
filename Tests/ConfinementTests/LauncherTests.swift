import AppGroup
import Confinement
import Foundation
import Platform
import TestSupport
import Testing

@Suite struct LauncherTests {
  private func start(
    _ program: String, _ arguments: [String], _ confinement: Confinement? = nil
  ) throws -> RunningRole {
    var options = LaunchOptions(program, arguments)
    options.output = .null
    options.errors = .null
    return try Launcher().start(options, confinement: confinement)
  }

  @Test func endingsAreDistinguished() throws {
    #expect(try start("/usr/bin/true", []).wait() == .finished)
    #expect(try start("/bin/sh", ["-c", "exit 7"]).wait() == .failed(status: 7))
    let role = try start("/usr/bin/sleep", ["1000"])
    #expect(role.ending == nil)
    #expect(role.stop() == .killed(signal: SIGTERM))
    #expect(role.ending == .killed(signal: SIGTERM))
  }

  @Test func roleThatIgnoresSIGTERMIsKilledWithItsProcessGroup() throws {
    let pipe = try OneWayPipe()
    var options = LaunchOptions("/bin/sh", ["-c", "trap '' TERM; sleep 1000 & echo $!; wait"])
    options.output = .descriptor(pipe.writeEnd.number)
    let role = try Launcher().start(options, confinement: nil)
    let text = String(decoding: try readSome(pipe.readEnd.number), as: UTF8.self)
    let number = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(getpgid(role.processID) == role.processID)
    guard let grandchild = ProcessWatch(number) else {
      Issue.record("\(number) is gone before its time")
      return
    }
    #expect(role.stop(killAt: .after(.milliseconds(50))) == .killed(signal: SIGKILL))
    let isGone = try grandchild.waitForEnd(until: .after(.seconds(60)))
    #expect(isGone)
  }

  @Test func missingProgramIsAnErrorThatNamesIt() throws {
    let error = #expect(throws: LaunchError.self) { try start("/nonexistent/role", []) }
    #expect(error == .noProgram("/nonexistent/role"))
    #expect(error?.description.contains("/nonexistent/role") == true)
  }

  @Test func roleDiesWithItsHostUnlessItOutlivesIt() throws {
    for (bond, survives) in [("dies", false), ("outlives", true)] {
      let host = try RunningProgram("RoleHost", ["bond=\(bond)", "--", "/usr/bin/sleep", "1000"])
      let role = try processNamed(by: host)
      guard let watch = ProcessWatch(role) else {
        Issue.record("\(role) is gone before its time")
        return
      }
      try host.end(with: SIGKILL)
      let limit: Duration = survives ? .milliseconds(200) : .seconds(60)
      #expect(try watch.waitForEnd(until: .after(limit)) == !survives)
      watch.send(signal: SIGKILL)
    }
  }

  @Test func hostThatExitsInOrderCanLeaveItsRoleRunning() throws {
    let host = try RunningProgram(
      "RoleHost", ["bond=outlives", "end=return", "--", "/usr/bin/sleep", "1000"])
    let role = try processNamed(by: host)
    try host.finish()
    guard let watch = ProcessWatch(role) else {
      Issue.record("the role ended with its host")
      return
    }
    watch.send(signal: SIGKILL)
  }

  /// The process that `RoleHost` started, as it reports.
  private func processNamed(by host: RunningProgram) throws -> Int32 {
    try host.waitForOutput("role ")
    let line = host.output.text.split(separator: "\n").last { $0.hasPrefix("role ") }
    return try #require(Int32(line?.dropFirst("role ".count) ?? ""))
  }

  @Test func endedRolesLeaveNoZombies() throws {
    let processes = try (0..<20).map { _ in
      let role = try start("/usr/bin/true", [])
      #expect(role.wait() == .finished)
      return role.processID
    }
    for process in processes { #expect(kill(process, 0) == -1 && errno == ESRCH) }
  }

  @Test func controlCharactersInARequestAreRefused() throws {
    var confinement = Confinement()
    confinement.grants = [.init(.write, "/tmp/a\nrun /")]
    #expect(throws: LaunchError.unsayable("write /tmp/a\nrun /")) {
      try start("/usr/bin/true", [], confinement)
    }
    confinement.grants = (0..<5000).map { .init(.read, "/some/long/path/\($0)") }
    #expect(throws: LaunchError.self) { try start("/usr/bin/true", [], confinement) }
  }

  @Test func relativePathAndTooManyPathsAreRefusedByNameAndNumber() throws {
    var confinement = Confinement()
    confinement.grants = [.init(.read, "cookie")]
    #expect(throws: LaunchError.notAbsolute("cookie")) {
      try start("/usr/bin/true", [], confinement)
    }
    // Plus the program's own.
    confinement.grants = (0..<512).map { .init(.read, "/\($0)") }
    #expect(throws: LaunchError.tooMany("paths", count: 513, limit: 512)) {
      try start("/usr/bin/true", [], confinement)
    }
    confinement.grants = []
    confinement.variables = (0..<129).map { "V\($0)" }
    #expect(throws: LaunchError.tooMany("variables", count: 129, limit: 128)) {
      try start("/usr/bin/true", [], confinement)
    }
  }
}
