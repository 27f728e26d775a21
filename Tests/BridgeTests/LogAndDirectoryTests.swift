import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import Platform

/// The log and the streams of all machines.
@Suite(.serialized) struct LogAndDirectoryTests {
  private func append(_ text: String, on machine: Machine) throws {
    _ = try run("framebus", ["log", "append", text] + machine.options)
  }

  private func lines(_ machine: Machine) throws -> [String] {
    let result = try run("framebus", ["log", "--all-machines"] + machine.options)
    #expect(result.status == .exited(0), "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test func noLineIsLostOrShownTwiceWhenServerAndBridgeAreKilled() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try Machine("one", bridging: "log = true")
      try one.connect(to: server.address)
      try waitUntil("the log is carried") {
        try append("begin", on: one)
        return try lines(one).contains { $0.contains("begin") }
      }
      for round in 0..<3 {
        try append("line \(round) a.", on: one)
        try server.kill()
        try append("line \(round) b.", on: one)
        try one.disconnect(with: SIGKILL)
        try append("line \(round) c.", on: one)
        try server.start()
        try one.connect(to: server.address)
        try append("line \(round) d.", on: one)
      }
      try waitUntil("all lines arrived") { try lines(one).contains { $0.contains("line 2 d.") } }
      let all = try lines(one)
      for round in 0..<3 {
        for letter in ["a", "b", "c", "d"] {
          #expect(all.filter { $0.contains("line \(round) \(letter).") }.count == 1)
        }
      }
    }
  }

  @Test func logOfAllMachinesNeedsABridge() throws {
    let one = try Machine("one", bridging: "log = true")
    let result = try run("framebus", ["log", "--all-machines"] + one.options)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("no bridge has run here"))
  }

  @Test func streamsOfAllMachinesAreListedWithTheirAddresses() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try Machine(
        "one",
        bridging: """
          [bridge.streams]
          screen = ["whep:https://one.example/whep", "srt://one.example:9000"]
          """)
      let two = try Machine("two", bridging: "notifications = []")
      let capture = try RunningProgram(
        "framebus", ["capture", "test", "--size", "64x64"] + one.options)
      _ = try RunningProgram("framebus", ["capture", "test", "--stream", "own"] + one.options)
      try one.connect(to: server.address)
      try two.connect(to: server.address)
      try waitUntil("the stream is listed") {
        let text = try run("framebus", ["streams", "--all-machines"] + two.options).output
        return text.contains("screen") && text.contains("srt://one.example:9000")
      }
      try waitUntil("the machine itself is listed") {
        try GroupDirectory(of: two.group).entries.contains { $0.report.machine.text == "two" }
      }
      let directory = try GroupDirectory(of: two.group)
      #expect(try directory.address(of: "group:one/screen") == "srt://one.example:9000")
      #expect(throws: DirectoryError.noStream("own", on: "one", ["screen"])) {
        try directory.address(of: "group:one/own")
      }
      #expect(throws: DirectoryError.self) { try directory.address(of: "group:three/screen") }
      let missing = try run("framebus", ["capture", "group:three/screen"] + two.options)
      #expect(missing.status == .exited(1))
      #expect(missing.errors.contains("the group has no machine three, only one, two"))
      try one.disconnect()
      try waitUntil("the machine has left") {
        try GroupDirectory(of: two.group).entries.first { $0.report.machine.text == "one" }?
          .isPresent == false
      }
      withExtendedLifetime(capture) {}
    }
  }
}
