import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import NotifyCenter
@testable import Platform
@testable import SharedDefaults

/// Servers and members that attack the bridge: it neither ends nor grows, and nothing happens that
/// the manifest does not allow.
@Suite(.serialized) struct HostileServerTests {
  private static let table = """
    notifications = ["a.b"]
    suites = ["a.s"]
    log = true
    """
  private static let mostKiB = 400 * 1024

  private func attack(_ mode: String, connections: Int, seed: TestSeed) throws {
    let port = try OwnPort()
    let server = try RunningProgram(
      "/usr/bin/python3",
      [
        tool("hostile_nats.py"), "\(port.number)", mode, "\(seed.value % 1_000_000)",
        "\(connections)",
      ])
    try server.waitForOutput("ready")
    let one = try Machine("one", bridging: Self.table)
    try one.suite("a.s").set(1, forKey: "k")
    try one.connect(to: "nats://127.0.0.1:\(port.number)", waits: false, isConfined: false)
    let bridge = try #require(one.bridge)
    try waitUntil("\(connections) connections are served, \(seed)\n\(server.output.text)") {
      if !ProcessFacts(bridge.processID).isRunning {
        throw HarnessError("the bridge ended, \(seed)\n\(server.output.text)\n\(bridge.transcript)")
      }
      return server.output.text.contains("served\n")
    }
    #expect(try peakKiB(bridge.processID) < Self.mostKiB, "\(seed)\n\(server.output.text)")
    let result = try #require(try one.disconnect())
    #expect(result.status == .exited(0) || result.status == .exited(143), "\(seed)")
    try expectUnchanged(one)
  }

  private func peakKiB(_ process: Int32) throws -> Int {
    let lines = ProcessFacts(process).shown("status").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("VmHWM:") }
    return try #require(
      line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  private func expectUnchanged(_ machine: Machine) throws {
    #expect(try machine.generation("a.secret") == 0)
    #expect(try !machine.suite("a.secret").exists)
    #expect(try machine.suite("a.s").value(forKey: "k") == .integer(1))
  }

  @Test func serverThatBreaksTheProtocolNeitherEndsNorFillsTheBridge() throws {
    let seed = TestSeed(for: "serverThatBreaksTheProtocolNeitherEndsNorFillsTheBridge")
    try withWatchdog { try attack("faults", connections: 40, seed: seed) }
  }

  /// A member of the group on a real server: it may publish what it likes.
  @Test func memberThatLiesChangesNothing() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try Machine("one", bridging: Self.table)
      try one.connect(to: server.address)
      try one.suite("a.s").set(1, forKey: "k")
      try one.bridge?.waitForErrors("sent 1 keys")
      let subjects = BridgeSubjects(one.group.id)
      let (two, three) = (try machineName("two"), try machineName("three"))
      func note(_ name: String, state: UInt64) -> [UInt8] {
        Note(machine: two, machineID: 9, position: 1, stamp: 9, state: state, name: name).bytes
      }
      var report = MachineReport(machine: two, machineID: 9)
      report.streams = [.init(name: "s", state: "live", format: "", addresses: ["srt://h:1"])]
      var reportOfThree = report
      reportOfThree.machine = three
      let (reports, suites) = ("$KV.\(subjects.machineBucket).", "$KV.\(subjects.suiteBucket).")
      let version = SuiteVersion(values: ["k": 2], writers: ["k": "two"], writer: two)
      let suite = try #require(version.bytes)
      let lies: [(String, [UInt8])] = [
        (subjects.notes(of: two) + "a_2esecret", note("a.secret", state: 5)),
        (subjects.notes(of: three) + "a_2eb", note("a.b", state: 5)),
        (subjects.notes(of: two) + "a_2eb", note("a.secret", state: 5)),
        (subjects.notes(of: two) + "a_2eb", [UInt8](repeating: 0x41, count: 1 << 20)),
        (subjects.notes(of: two) + "a_2eb", Array(note("a.b", state: 5).dropLast())),
        (suites + "a_2eother", suite), (suites + "a_2es", Array(suite.dropLast())),
        (reports + "three", report.bytes), (reports + "two", reportOfThree.bytes),
        (reports + "two", report.bytes.map { $0 == UInt8(ascii: "h") ? 1 : $0 }),
        (subjects.log(of: three), LogBatch(machine: two, clock: nil).bytes),
        (reports + "two", report.bytes),
        (subjects.notes(of: two) + "a_2eb", note("a.b", state: 6)),
      ]
      let member = try run(
        "/usr/bin/python3",
        [tool("nats_publish.py"), "\(server.port.number)"]
          + lies.flatMap { [$0.0, "\($0.1.count)"] }, input: lies.flatMap(\.1))
      #expect(member.status == .exited(0), "\(member.errors)")
      try one.waitFor("a.b", state: 6)
      #expect(try one.generation("a.b") == 1)
      try one.bridge?.waitForErrors("is malformed")
      #expect(try !one.suite("a.other").exists)
      try waitUntil("the report of two is noted") {
        try GroupDirectory(of: one.group).entries.contains { $0.report.machine == two }
      }
      #expect(try GroupDirectory(of: one.group).entries.allSatisfy { $0.report.machine != three })
      try expectUnchanged(one)
    }
  }

  private func machineName(_ text: String) throws -> MachineName { try #require(MachineName(text)) }

  private func run(
    _ program: String, _ arguments: [String], input: [UInt8]
  ) throws -> ProgramResult {
    let root = try TemporaryRoot()
    let file = root.file("input")
    try Data(input).write(to: URL(fileURLWithPath: file))
    return try TestSupport.run(program, arguments + [file])
  }

  @Test func serverThatLiesAboutItsStreamsNeitherEndsNorFillsTheBridge() throws {
    let seed = TestSeed(for: "serverThatLiesAboutItsStreamsNeitherEndsNorFillsTheBridge")
    try withWatchdog { try attack("lies", connections: 24, seed: seed) }
  }
}
