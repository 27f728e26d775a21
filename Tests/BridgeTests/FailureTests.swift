import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import NotifyCenter
@testable import Platform
@testable import SharedDefaults

/// Failures of servers, networks and bridges, each with real ones: the table of
/// docs/design/bridge.md.
@Suite(.serialized) struct FailureTests {
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

  /// The process of the bridge itself, which its command started.
  private func bridgeID(of machine: Machine) throws -> Int32 {
    let state = try BridgeState(in: machine.group)
    return Int32(try #require(state.connection).processID)
  }

  @Test func clusterSurvivesTheDeathOfEachOfItsServers() throws {
    try withWatchdog {
      let routes = try (0..<3).map { _ in try OwnPort() }
      let list = routes.map { #""nats://127.0.0.1:\#($0.number)""# }.joined(separator: ", ")
      let servers = try routes.enumerated().map { index, port in
        try NATSServer(
          settings: """
            server_name: s\(index)
            cluster { name: c, listen: "127.0.0.1:\(port.number)", routes: [\(list)] }
            """, waits: false)
      }
      let (one, two) = (try machine("one", servers[0]), try machine("two", servers[1]))
      try one.suite("a.s").set(0, forKey: "k")
      try waitUntil("the cluster stores") {
        try two.suite("a.s").value(forKey: "k") == .integer(0)
      }
      for (index, server) in servers.enumerated() {
        try server.kill()
        let number = index + 1
        try one.post("a.b", state: UInt64(number))
        try two.suite("a.s").set(number, forKey: "k")
        try two.waitFor("a.b", state: UInt64(number))
        try waitUntil("setting \(number) arrived") {
          try one.suite("a.s").value(forKey: "k") == .integer(number)
        }
        try server.start(waits: false)
        // The next one may die only when this one has what the others have.
        try waitUntil("the server has caught up") {
          server.process?.errors.text.contains("Server is ready") == true
        }
      }
      #expect(try two.generation("a.b") == 3)
    }
  }

  @Test func bridgesThatAreKilledAtRandomLoseNothing() throws {
    let seed = TestSeed(for: "bridgesThatAreKilledAtRandomLoseNothing")
    var random = seed.generator
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      var posts: UInt64 = 0
      let kills = 12
      for _ in 0..<kills {
        let machine = Bool.random(using: &random) ? one : two
        for _ in 0..<Int.random(in: 1...50, using: &random) {
          posts += 1
          try one.post("a.b", state: posts)
          try one.suite("a.s").set(Int(posts), forKey: "k")
        }
        try machine.disconnect(with: SIGKILL)
        posts += 1
        try one.post("a.b", state: posts)
        try machine.connect(to: server.address)
      }
      try two.waitFor("a.b", state: posts)
      try waitUntil("the setting arrived") {
        guard case .integer(let number)? = try two.suite("a.s").value(forKey: "k") else {
          return false
        }
        return try one.suite("a.s").value(forKey: "k") == .integer(number) && number > 0
      }
      // Nothing came back, except for a post that a kill hit between post and record.
      #expect(try one.generation("a.b") <= posts + UInt64(kills), "\(seed)")
      #expect(try two.generation("a.b") <= posts + UInt64(kills), "\(seed)")
    }
  }

  @Test func slowBridgeLearnsTheNewestState() throws {
    try withWatchdog {
      let server = try NATSServer(
        settings:
          "write_deadline: \"500ms\"\nmax_payload: 65536\nmax_pending: 131072")
      let (one, two) = (try machine("one", server), try machine("two", server))
      let slow = try bridgeID(of: two)
      #expect(kill(slow, SIGSTOP) == 0)
      var number: UInt64 = 0
      try waitUntil("the server gave the slow bridge up") {
        for _ in 0..<500 {
          number += 1
          try one.post("a.b", state: number)
        }
        return server.process?.errors.text.contains("Slow Consumer") == true
      }
      #expect(kill(slow, SIGCONT) == 0)
      try two.waitFor("a.b", state: number)
    }
  }

  @Test func fullDiskOfTheServerStopsNoNotification() throws {
    try withWatchdog {
      let server = try NATSServer(diskBytes: 4 << 20)
      let (one, two) = (try machine("one", server), try machine("two", server))
      try one.suite("a.s").set(1, forKey: "k")
      try waitUntil("settings cross") { try two.suite("a.s").value(forKey: "k") == 1 }
      try waitUntil("the disk is full") {
        try one.suite("a.s").set(
          DefaultsValue.data((0..<400_000).map { _ in UInt8.random(in: 0...255) }), forKey: "big")
        return one.bridge?.errors.text.contains("the settings a.s wait") == true
      }
      try one.post("a.b", state: 5)
      try two.waitFor("a.b", state: 5)
      try one.post("a.b", state: 6)
      try two.waitFor("a.b", state: 6)
    }
  }

  @Test func cutNetworkDelaysPostsAndLosesNone() throws {
    try withWatchdog {
      let network = try OwnNetwork()
      let far = try OwnNetwork(cabledTo: network)
      let server = try NATSServer(in: network, host: "0.0.0.0")
      let (one, two) = (
        try Machine("one", bridging: Self.table), try Machine("two", bridging: Self.table)
      )
      try one.connect(to: "nats://127.0.0.1:\(server.port.number)", in: network)
      try two.connect(to: "nats://10.9.8.2:\(server.port.number)", ["--plain"], in: far)
      try one.post("a.b", state: 1)
      try two.waitFor("a.b", state: 1)
      try network.start("ip", ["link", "set", "other", "down"]).finish()
      for number in 2...30 { try one.post("a.b", state: UInt64(number)) }
      try two.bridge?.waitForErrors("not connected to")
      try network.start("ip", ["link", "set", "other", "up"]).finish()
      try two.waitFor("a.b", state: 30)
      #expect(try two.generation("a.b") == 2)
    }
  }

  @Test func hostilePeerWritesNothingThatTheManifestDoesNotList() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try machine("one", server)
      try one.suite("a.s").set(1, forKey: "k")
      try one.bridge?.waitForErrors("sent 1 keys")
      let subjects = BridgeSubjects(one.group.id)
      let evil = try #require(MachineName("evil"))
      func note(_ name: String, _ position: UInt64, from machine: MachineName) -> [UInt8] {
        Note(
          machine: machine, machineID: 666, position: position, stamp: 9, state: 9, name: name
        ).bytes
      }
      var messages: [(String, [UInt8])] = [
        (subjects.notes(of: evil) + "a_2eother", note("a.other", 1, from: evil)),
        // In the name of another machine.
        (subjects.notes(of: evil) + "a_2eb", note("a.b", 1, from: try #require(MachineName("x")))),
        ("$KV.\(subjects.suiteBucket).a_2eother", [1, 2, 3]),
        ("$KV.\(subjects.suiteBucket).a_2es", [1, 2, 3]),
        ("$KV.\(subjects.machineBucket).evil", [UInt8](repeating: 7, count: 70_000)),
        (subjects.log(of: evil), [UInt8](repeating: 0xff, count: 1000)),
      ]
      for count in 0..<1000 {
        messages.append(
          (subjects.notes(of: evil) + "a_2eb", (0..<count).map { _ in .random(in: 0...255) }))
      }
      try publish(messages, to: server)
      try one.bridge?.waitForErrors("version 3 is malformed")
      try publish([(subjects.notes(of: evil) + "a_2eb", note("a.b", 2, from: evil))], to: server)
      // What the manifest lists is a peer's to post.
      try one.waitFor("a.b", state: 9)
      #expect(try one.generation("a.b") == 1)
      #expect(try one.generation("a.other") == 0)
      #expect(try one.suite("a.s").storedValues() == ["k": 1])
      #expect(try !one.suite("a.other").exists)
    }
  }

  private func publish(_ messages: [(String, [UInt8])], to server: NATSServer) throws {
    let text = messages.map { subject, bytes in
      subject + " " + bytes.map { String(format: "%02x", $0) }.joined() + "\n"
    }.joined()
    let file = server.root.file("messages")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let result = try run(
      "/usr/bin/python3", [tool("nats_publish.py"), "\(server.port.number)", file])
    #expect(result.status == .exited(0), "\(result.errors)")
  }
}
