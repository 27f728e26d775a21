import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import Platform
@testable import SharedLog

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

  @Test func followingReaderNamesMachinesAndClocksAndLosesNothingWhenItsServerRestarts() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (
        try Machine("one", bridging: "log = true"), try Machine("two", bridging: "log = true")
      )
      try one.connect(to: server.address)
      try two.connect(to: server.address, environment: fakeTime("-1h"), isConfined: false)
      try waitUntil("the log is carried") {
        try append("begin", on: two)
        return try lines(one).contains { $0.contains("begin") }
      }
      let reader = try RunningProgram(
        "framebus", ["log", "--all-machines", "--follow"] + one.options)
      for round in 0..<3 {
        try append("of one \(round).", on: one)
        try append("of two \(round).", on: two)
        try reader.waitForOutput("of two \(round).")
        try reader.waitForOutput("of one \(round).")
        try server.kill()
        try append("cut \(round).", on: two)
        try reader.waitForErrors("not connected: ")
        try server.start()
        try reader.waitForOutput("cut \(round).")
      }
      let result = try reader.end(with: SIGINT)
      let shown = result.output.split(separator: "\n").map(String.init)
      for round in 0..<3 {
        for (text, machine) in [("of one", "one/"), ("of two", "two/"), ("cut", "two/")] {
          let found = shown.filter { $0.contains("\(text) \(round).") }
          #expect(found.count == 1 && found[0].contains(machine), "\(found)")
        }
      }
      #expect(result.errors.contains("the clock of one is 0.0"), "\(result.errors)")
      let hour = try #require(result.errors.firstRange(of: "the clock of two is 3"))
      #expect(result.errors[hour.lowerBound...].contains("s behind the server's (± "))
    }
  }

  /// The log's files have a quota; a flood removes lines that were not sent yet.
  @Test func linesThatWereRemovedBeforeTheyCrossedAreCounted() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try Machine("one", bridging: "log = true")
      try one.connect(to: server.address)
      try waitUntil("the log is carried") {
        try append("begin", on: one)
        return try lines(one).contains { $0.contains("begin") }
      }
      try server.kill()
      try one.bridge?.waitForErrors("not connected")
      let count = 20_000
      do {
        var options = LogOptions()
        (options.rotateBytes, options.quotaBytes) = (256 << 10, 2 << 20)
        options.overflow = .wait(atMost: .seconds(10))
        let logger = try SharedLog.open(one.group, role: .host, options: options)
        let line = String(repeating: "flood ", count: 50)
        for number in 0..<count { logger.append(.info, "\(line)\(number)") }
        try logger.close()
      }
      try server.start()
      try append("after the flood", on: one)
      try waitUntil("the line after it arrived") {
        try lines(one).contains { $0.contains("after the flood") }
      }
      let result = try run("framebus", ["log", "--all-machines"] + one.options)
      let shown = result.output.split(separator: "\n").filter { $0.contains("flood flood") }.count
      let missing = result.errors.split(separator: "\n").compactMap { line -> Int? in
        guard line.contains("are missing") else { return nil }
        return line.split(separator: " ").compactMap { Int($0) }.first
      }.reduce(0, +)
      #expect(missing > 0 && shown > 0)
      #expect(shown + missing >= count, "\(shown) shown, \(missing) missing of \(count)")
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
