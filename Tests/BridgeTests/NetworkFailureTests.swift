import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import NotifyCenter
@testable import Platform
@testable import SharedDefaults

/// Networks that are cut, readers that are slow, and disks that are full.
@Suite(.serialized) struct NetworkFailureTests {
  private static let table = """
    notifications = ["a.b"]
    suites = ["a.s"]
    log = true
    """

  private func machine(_ name: String, _ server: NATSServer) throws -> Machine {
    let machine = try Machine(name, bridging: Self.table)
    try machine.connect(to: server.address)
    return machine
  }

  /// `FRAMEBUS_BRIDGE_CUT=60` cuts it for 60 seconds; otherwise until the pings notice it.
  private static let cutSeconds = environmentValue("FRAMEBUS_BRIDGE_CUT").flatMap(Int.init) ?? 0

  @Test func cutNetworkDelaysPostsSettingsAndLinesAndLosesNone() throws {
    try withWatchdog {
      let far = try OwnNetwork()
      let near = try OwnNetwork(cabledTo: far)
      let server = try NATSServer(in: near, host: OwnNetwork.address)
      let all = try ["one", "two"].map { try Machine($0, bridging: Self.table) }
      for (machine, network) in zip(all, [near, far]) {
        try machine.connect(to: server.address, ["--plain"], in: network)
      }
      try all[0].post("a.b", state: 1)
      try all[1].waitFor("a.b", state: 1)
      try all[0].suite("a.s").set(1, forKey: "k")
      try waitUntil("the setting arrived") {
        try all[1].suite("a.s").value(forKey: "k") == .integer(1)
      }
      let end = Deadline.after(.seconds(Self.cutSeconds))
      try cable(far, "down")
      try all[1].bridge?.waitForErrors("not connected to nats://\(OwnNetwork.address)")
      var number: UInt64 = 1
      repeat {
        number += 1
        try all[0].post("a.b", state: number)
        // 40 posts at once; at full length 20 a second follow, for as long as the cable is down.
        if number > 40 { sleep(until: .after(.milliseconds(50))) }
      } while number < 40 || !end.isPast
      try all[0].suite("a.s").set(2, forKey: "near")
      try all[1].suite("a.s").set(3, forKey: "far")
      _ = try run("framebus", ["log", "append", "while it was cut"] + all[1].options)
      // The machine that is still connected learns that the other one is gone.
      try waitUntil("two is not connected") {
        try GroupDirectory(of: all[0].group).entries.contains {
          $0.report.machine.text == "two" && !$0.isPresent
        }
      }
      try cable(far, "up")
      try all[1].waitFor("a.b", state: number)
      #expect(try all[1].generation("a.b") == 2)
      for (machine, key, value) in [(all[0], "far", 3), (all[1], "near", 2)] {
        try waitUntil("\(key) arrived") {
          try machine.suite("a.s").value(forKey: key) == .integer(value)
        }
      }
      try waitUntil("the line arrived") {
        let log = try near.start("framebus", ["log", "--all-machines"] + all[0].options).finish()
        return log.output.components(separatedBy: "while it was cut").count == 2
      }
    }
  }

  private func cable(_ network: OwnNetwork, _ state: String) throws {
    let result = try network.start("ip", ["link", "set", "other", state]).finish()
    if !result.status.isSuccess { throw HarnessError(result.errors) }
  }

  @Test func readerThatIsTooSlowIsCutOffByItsServerAndLearnsTheNewestStates() throws {
    try withWatchdog {
      // A network with small buffers, which are soon full.
      let buffers = ["tcp_rmem", "tcp_wmem"].map {
        "echo 4096 16384 16384 > /proc/sys/net/ipv4/\($0)"
      }
      let network = try OwnNetwork(loopback: ["ip link set lo up"] + buffers)
      let server = try NATSServer(
        settings: "write_deadline: \"200ms\"\nmax_payload: 65536\nmax_pending: 65536", in: network)
      let names = (0..<64).map { "a.\($0)." + String(repeating: "x", count: 400) }
      let table = "notifications = [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]"
      let all = try ["one", "two"].map { try Machine($0, bridging: table) }
      try all[0].connect(to: server.address, in: network)
      try all[1].connect(to: server.address, isConfined: false, in: network)
      let slow = try #require(all[1].bridge?.process)
      slow.send(signal: SIGSTOP)
      let process = try #require(server.process)
      var number: UInt64 = 0
      try waitUntil("the server found a slow consumer") {
        number += 1
        for name in names { try all[0].post(name, state: number) }
        return process.errors.text.contains("Slow Consumer Detected")
      }
      slow.send(signal: SIGCONT)
      number += 1
      for name in names { try all[0].post(name, state: number) }
      for name in names { try all[1].waitFor(name, state: number) }
    }
  }

  @Test func fullDiskOfTheServerDelaysWhatItStoresAndNothingElse() throws {
    try withWatchdog {
      // The limit lets the server make streams that are larger than its disk.
      let server = try NATSServer(diskBytes: 8 << 20, storeBytes: 8 << 30)
      let (one, two) = (try machine("one", server), try machine("two", server))
      try one.suite("a.s").set(1, forKey: "k")
      try waitUntil("the setting arrived") {
        try two.suite("a.s").value(forKey: "k") == .integer(1)
      }
      let line = String(repeating: "full ", count: 3000)
      try waitUntil("the disk is full\n\(one.bridge?.transcript ?? "")") {
        for _ in 0..<20 { _ = try run("framebus", ["log", "append", line] + one.options) }
        return one.bridge?.errors.text.contains("the log waits") == true
      }
      try one.post("a.b", state: 2)
      try two.waitFor("a.b", state: 2)
      try two.suite("a.s").set(5, forKey: "late")
      // A larger disk, which is empty.
      try server.kill()
      try server.start(diskBytes: 256 << 20)
      try waitUntil("the setting arrived") {
        try one.suite("a.s").value(forKey: "late") == .integer(5)
      }
      _ = try run("framebus", ["log", "append", "the last line"] + one.options)
      try waitUntil("the log goes on") {
        let log = try run("framebus", ["log", "--all-machines"] + two.options)
        return log.output.contains("the last line")
      }
      try one.post("a.b", state: 3)
      try two.waitFor("a.b", state: 3)
    }
  }

  @Test func serverThatStopsAnsweringIsLeftAndFoundAgain() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      let process = try #require(server.process?.process)
      process.send(signal: SIGSTOP)
      try one.bridge?.waitForErrors("not connected to")
      try one.post("a.b", state: 9)
      process.send(signal: SIGCONT)
      try two.waitFor("a.b", state: 9)
    }
  }
}
