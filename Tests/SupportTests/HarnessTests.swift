import Foundation
import Platform
import TestSupport
import Testing

@Suite struct HarnessTests {
  @Test func watchdogKillsAHangingProgramAndShowsItsOutput() throws {
    let error = #expect(throws: HarnessError.self) {
      try RunningProgram("sh", ["-c", "echo started; exec sleep 1000"])
        .finish(within: .milliseconds(300))
    }
    #expect(error?.description.contains("started") == true)
  }

  @Test func missingOutputIsAnError() throws {
    let program = try RunningProgram("sh", ["-c", "echo one; sleep 0.1; echo two"])
    try program.waitForOutput("two")
    #expect(throws: HarnessError.self) { try program.waitForOutput("three") }
  }

  @Test func virtualScreenServesClientsAndEndsWhenReleased() throws {
    let server = try {
      let screen = try VirtualScreen(width: 320, height: 240)
      let facts = try run("xdpyinfo", [], environment: screen.environment)
      #expect(facts.output.contains("320x240 pixels"))
      return screen.server.processID
    }()
    #expect(kill(server, 0) == -1 && errno == ESRCH)
  }

  @Test func temporaryRootIsRemovedWithItsContents() throws {
    let path = try {
      let root = try TemporaryRoot()
      try Data("x".utf8).write(to: URL(fileURLWithPath: root.file("file")))
      return root.path
    }()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
  func testUserRunsProgramsAsItself() throws {
    let user = try TestUser()
    let result = try user.run("id", ["-u"])
    #expect(result.output == "\(user.uid)\n", "\(result.errors)")
    #expect(try user.run("framebus", ["--version"]).status != .exited(127))
  }

  @Test func processFactsAreRead() throws {
    let before = try ProcessFacts.own.descriptorCount
    let pipe = try OneWayPipe()
    let descriptors = try ProcessFacts.own.descriptors
    #expect(descriptors[pipe.readEnd.number]?.hasPrefix("pipe:") == true)
    #expect(before > 0)
    #expect(try ProcessFacts.own.residentBytes > 1 << 20)
    #expect(try ProcessFacts.own.userTicks >= 0)
    #expect(try ProcessFacts.own.readBytes > 0)
    #expect(try ProcessFacts.own.mappings.contains { $0.contains("libc.so") })
  }

  @Test func sameSeedGivesTheSameNumbers() {
    var first = SeededGenerator(seed: 7)
    var second = SeededGenerator(seed: 7)
    #expect((0..<8).map { _ in first.next() } == (0..<8).map { _ in second.next() })
  }
}
