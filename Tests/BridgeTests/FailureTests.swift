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

  private func machine(
    _ name: String, _ server: NATSServer, _ options: [String] = []
  ) throws -> Machine {
    let machine = try Machine(name, bridging: Self.table)
    try machine.connect(to: server.address, options)
    return machine
  }

  @Test func clusterSurvivesTheDeathOfEachOfItsServers() throws {
    try withWatchdog {
      let routes = try (0..<3).map { _ in try OwnPort() }
      let monitors = try (0..<3).map { _ in try OwnPort() }
      let list = routes.map { #""nats://127.0.0.1:\#($0.number)""# }.joined(separator: ", ")
      func server(_ index: Int) throws -> NATSServer {
        try NATSServer(
          settings: """
            server_name: s\(index)
            http: "127.0.0.1:\(monitors[index].number)"
            cluster { name: c, listen: "127.0.0.1:\(routes[index].number)", routes: [\(list)] }
            """, waits: false)
      }
      var servers = try (0..<2).map(server)
      // Without encryption, other servers than the named one are used with this option only.
      let (one, two) = (
        try machine("one", servers[0], ["--plain"]), try machine("two", servers[1], ["--plain"])
      )
      try one.suite("a.s").set(0, forKey: "k")
      try waitUntil("the cluster stores") {
        try two.suite("a.s").value(forKey: "k") == .integer(0)
      }
      // What was made while the cluster formed is given to all three.
      servers.append(try server(2))
      let streams = "http://127.0.0.1:\(monitors[0].number)/jsz?streams=true&config=true"
      try waitUntil("all streams are on three servers") {
        let text = try run("curl", ["-sf", streams]).output
        return text.matches(of: /"num_replicas": ?3/).count == 4
      }
      for (index, server) in servers.enumerated() {
        // One may die only when each of the others has what it has.
        for monitor in monitors {
          let address = "http://127.0.0.1:\(monitor.number)/healthz"
          try waitUntil("the servers have caught up") {
            try run("curl", ["-sf", address]).output.contains(#""ok""#)
          }
        }
        try server.kill()
        let number = index + 1
        try one.post("a.b", state: UInt64(number))
        try two.suite("a.s").set(number, forKey: "k")
        try two.waitFor("a.b", state: UInt64(number))
        try waitUntil("setting \(number) arrived\n\(one.bridge?.transcript ?? "")") {
          try one.suite("a.s").value(forKey: "k") == .integer(number)
        }
        try server.start(waits: false)
      }
      #expect(try two.generation("a.b") == 3)
    }
  }

  /// `FRAMEBUS_BRIDGE_KILLS=120` kills for 120 seconds; otherwise 12 times.
  private static let killSeconds = environmentValue("FRAMEBUS_BRIDGE_KILLS").flatMap(Int.init) ?? 0

  @Test func bridgesThatAreKilledAtRandomLoseNothing() throws {
    let seed = TestSeed(for: "bridgesThatAreKilledAtRandomLoseNothing")
    var random = seed.generator
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      var posts: UInt64 = 0
      var kills = 0
      let end = Deadline.after(.seconds(Self.killSeconds))
      while kills < 12 || !end.isPast {
        kills += 1
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
}
