import Foundation
import TestSupport
import Testing

@testable import Platform

/// Encryption, and who may connect: real servers with real certificates and users.
@Suite(.serialized) struct AccessTests {
  private static let table = #"notifications = ["a.b"]"#
  private let material: TemporaryRoot

  init() throws { material = try TemporaryRoot() }

  private func make(_ what: String) throws {
    try output(of: "/usr/bin/python3", [tool("nats_access.py"), what, material.path])
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: material.file(name), encoding: .utf8)
  }

  private func secureServer(_ certificate: String) throws -> NATSServer {
    try NATSServer(
      settings: """
        tls {
          cert_file: "\(material.file(certificate + ".pem"))"
          key_file: "\(material.file(certificate + ".key"))"
        }
        """)
  }

  /// Starts a bridge that must end by itself.
  private func refusal(_ server: String, _ options: [String], _ machine: Machine) throws -> String {
    try machine.connect(to: server, options, waits: false)
    let result = try #require(try machine.bridge?.finish())
    #expect(result.status == .exited(1), "\(result.errors)")
    #expect(!result.errors.contains("connected to"), "\(result.errors)")
    return result.errors
  }

  @Test func otherMachineIsReachedWithEncryptionOrNotAtAll() throws {
    let one = try Machine("one", bridging: Self.table)
    for (address, reason) in [
      ("http://h", "is not a server"), ("nats://u:p@h", "belongs into the credential store"),
    ] {
      let result = try run("framebus", ["bridge", address] + one.options)
      #expect(result.status == .exited(2))
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
  }

  @Test func notificationsCrossATrustedServer() throws {
    try withWatchdog {
      try make("certificates")
      for (certificate, host) in [("valid", "localhost"), ("address", "127.0.0.1")] {
        let server = try secureServer(certificate)
        let all = try ["one", "two"].map { try Machine($0, bridging: Self.table) }
        for machine in all {
          try machine.connect(
            to: "tls://\(host):\(server.port.number)", ["--ca", material.file("authority.pem")])
        }
        try all[0].post("a.b", state: 7)
        try all[1].waitFor("a.b", state: 7)
        // A server that restarts is verified again, and reached.
        try server.kill()
        try all[0].post("a.b", state: 8)
        try server.start()
        try all[1].waitFor("a.b", state: 8)
      }
    }
  }

  @Test(arguments: [
    ("expired", "it has expired", true), ("other", "it is of another host", true),
    ("foreign", "an unknown authority signed it", true),
    ("valid", "an unknown authority signed it; trust that one with --ca FILE", false),
  ])
  func certificateThatIsNotTrustedEndsTheBridge(
    _ certificate: String, _ reason: String, _ hasAuthority: Bool
  ) throws {
    try withWatchdog {
      try make("certificates")
      let server = try secureServer(certificate)
      let options = hasAuthority ? ["--ca", material.file("authority.pem")] : []
      let one = try Machine("one", bridging: Self.table)
      let errors = try refusal("tls://localhost:\(server.port.number)", options, one)
      #expect(errors.contains("the certificate of tls://localhost"), "\(errors)")
      #expect(errors.contains(reason), "\(errors)")
    }
  }

  @Test func serverWithoutEncryptionAndUnreadableAuthorityAreErrors() throws {
    try withWatchdog {
      let server = try NATSServer()
      let address = "tls://localhost:\(server.port.number)"
      let one = try Machine("one", bridging: Self.table)
      #expect(try refusal(address, [], one).contains("does not encrypt"))
      let errors = try refusal(address, ["--ca", "/etc/hostname"], one)
      #expect(errors.contains("/etc/hostname"), "\(errors)")
    }
  }

  @Test func otherServersOfAClusterAreNotReachedWithoutEncryption() throws {
    try withWatchdog {
      let routes = try (0..<2).map { _ in try OwnPort() }
      let list = routes.map { #""nats://127.0.0.1:\#($0.number)""# }.joined(separator: ", ")
      let servers = try routes.enumerated().map { index, port in
        try NATSServer(
          settings: """
            server_name: s\(index)
            debug: true
            cluster { name: c, listen: "127.0.0.1:\(port.number)", routes: [\(list)] }
            """, waits: false)
      }
      let second = try #require(servers[1].process)
      try second.waitForErrors("Server is ready")
      let one = try Machine("one", bridging: Self.table)
      try one.connect(to: servers[0].address)
      try servers[0].kill()
      try one.bridge?.waitForErrors("connection refused")
      // Attempts take turns among all known servers, so this is more than one round.
      try servers[0].start(waits: false)
      try waitUntil("the bridge is connected again") {
        one.bridge?.errors.text.components(separatedBy: " as one\n").count == 3
      }
      #expect(!second.errors.text.contains("Client connection created"))
    }
  }

  // MARK: Credentials

  /// Servers' users, and the credential of one of them: account, secret.
  private func prove(_ settings: String, _ account: String, _ secret: String) throws {
    let server = try NATSServer(settings: settings)
    let all = try ["one", "two"].map { try Machine($0, bridging: Self.table) }
    for machine in all {
      try machine.seal(secret, account)
      do {
        try machine.connect(to: server.address, ["--credential", "nats/\(account)"])
      } catch {
        let log = server.process?.errors.text ?? ""
        throw HarnessError("\(error)\nThe log of the server:\n\(log)")
      }
    }
    try all[0].post("a.b", state: 7)
    try all[1].waitFor("a.b", state: 7)
    let seed = secret.split(separator: "\n").first { $0.hasPrefix("SU") }.map(String.init)
    try expectHidden(seed ?? secret, all[0])
  }

  /// The secret is in no argument, no variable, no output and no file.
  private func expectHidden(_ secret: String, _ machine: Machine) throws {
    let bridge = try #require(machine.bridge)
    let command = ProcessFacts(bridge.processID)
    let children = try command.children
    #expect(!children.isEmpty)
    let family = try [command] + children + children.flatMap { try $0.children }
    for process in family.map(\.processID) {
      for name in ["cmdline", "environ"] {
        let bytes = FileManager.default.contents(atPath: "/proc/\(process)/\(name)") ?? Data()
        #expect(bytes.range(of: Data(secret.utf8)) == nil, "in \(name) of \(process)")
      }
    }
    #expect(!bridge.transcript.contains(secret))
    let log = try run("framebus", ["log"] + machine.options)
    #expect(log.output.contains("connected to") && !log.output.contains(secret))
    for name in FileManager.default.enumerator(atPath: machine.root.path) ?? .init() {
      let bytes = FileManager.default.contents(atPath: machine.root.file("\(name)")) ?? Data()
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "in \(name)")
    }
  }

  @Test func passwordAndTokenComeFromTheStore() throws {
    try withWatchdog {
      try prove("authorization { user: u, password: \"a secret word\" }", "u", "a secret word")
      try prove("authorization { token: \"a-secret-token\" }", "token", "a-secret-token")
    }
  }

  @Test func keyAndTokenOfAnOperatorComeFromTheStore() throws {
    try withWatchdog {
      try make("keys")
      let key = try text("user.public")
      try prove("authorization { users: [ { nkey: \(key) } ] }", key, try text("user.seed"))
      try prove(try text("operator.conf"), "creds", try text("valid.creds"))
    }
  }

  @Test func credentialThatIsRefusedEndsTheBridgeAndNamesTheCommandThatReplacesIt() throws {
    try withWatchdog {
      try make("keys")
      let key = try text("user.public")
      let other = try text("other.public")
      let operated = try text("operator.conf")
      for (settings, account, secret) in [
        ("authorization { user: u, password: right }", "u", "wrong"),
        ("authorization { token: right }", "token", "wrong"),
        ("authorization { users: [ { nkey: \(key) } ] }", other, try text("other.seed")),
        (operated, "creds", try text("expired.creds")),
        (operated, "creds", try text("stranger.creds")),
      ] {
        let server = try NATSServer(settings: settings)
        let one = try Machine("one", bridging: Self.table)
        try one.seal(secret, account)
        let errors = try refusal(server.address, ["--credential", "nats/\(account)"], one)
        #expect(errors.contains("refused the credential nats/\(account)"), "\(errors)")
        #expect(errors.contains("framebus credential set nats/\(account)"), "\(errors)")
        #expect(!errors.contains(secret))
      }
    }
  }

  @Test func serverThatAsksForACredentialIsSaid() throws {
    try withWatchdog {
      let server = try NATSServer(settings: "authorization { user: u, password: p }")
      let one = try Machine("one", bridging: Self.table)
      #expect(try refusal(server.address, [], one).contains("name one with --credential"))
    }
  }

  @Test func passwordThatIsChangedWhileConnectedIsSaidAndTriedAgain() throws {
    try withWatchdog {
      let server = try NATSServer(settings: "authorization { user: u, password: one }")
      let machine = try Machine("one", bridging: Self.table)
      try machine.seal("one", "u")
      try machine.connect(to: server.address, ["--credential", "nats/u"])
      try server.kill()
      try server.start(settings: "authorization { user: u, password: two }")
      try machine.bridge?.waitForErrors("refused the credential nats/u")
      try server.kill()
      let before = try #require(machine.bridge).errors.text.count
      try server.start(settings: "authorization { user: u, password: one }")
      try waitUntil("the bridge is connected") {
        machine.bridge?.errors.text.dropFirst(before).contains(" as one\n") == true
      }
    }
  }

  @Test func subjectsThatTheUserMayNotUseAreSaidAndTheRestCrosses() throws {
    try withWatchdog {
      let group = "framebus.org_2eexample_2ebridge"
      let server = try NATSServer(
        settings: """
          authorization { users: [
            { user: one, password: p, permissions: {
                publish: { deny: ["\(group).note.one.a_2esecret"] }
                subscribe: { deny: ["$KV.*.*"] } } }
            { user: two, password: p } ] }
          """)
      let names = #"notifications = ["a.b", "a.secret"]"#
      let all = try ["one", "two"].map { try Machine($0, bridging: names) }
      for machine in all {
        try machine.seal("p", machine.name)
        try machine.connect(to: server.address, ["--credential", "nats/\(machine.name)"])
      }
      try all[0].post("a.secret", state: 1)
      try all[0].post("a.b", state: 2)
      try all[1].waitFor("a.b", state: 2)
      let bridge = try #require(all[0].bridge)
      try bridge.waitForErrors("Permissions Violation for Publish to \"\(group).note.one.a_2es")
      try bridge.waitForErrors("Permissions Violation for Subscription to \"$KV.FRAMEBUS-")
      try bridge.waitForErrors("allow it in the user's permissions")
      #expect(try all[1].generation("a.secret") == 0)
    }
  }

  @Test func serverWithoutJetStreamIsSaid() throws {
    try withWatchdog {
      let server = try NATSServer(
        settings: """
          accounts { A { users: [ { user: u, password: p } ] }, B { jetstream: enabled } }
          """)
      let one = try Machine("one", bridging: Self.table)
      try one.seal("p", "u")
      try one.connect(to: server.address, ["--credential", "nats/u"])
      try one.bridge?.waitForErrors("the server has no JetStream for this user")
    }
  }

  @Test func bridgeThatStartsBeforeItsServerWaitsAndSaysWhy() throws {
    try withWatchdog {
      let server = try NATSServer()
      try server.kill()
      let one = try Machine("one", bridging: Self.table)
      try one.connect(to: server.address, waits: false)
      try one.bridge?.waitForErrors("not connected to nats://127.0.0.1:\(server.port.number):")
      try one.bridge?.waitForErrors("connection refused; the bridge tries again")
      try one.post("a.b", state: 3)
      try server.start()
      try one.bridge?.waitForErrors(" as one\n")
      let two = try Machine("two", bridging: Self.table)
      try two.connect(to: server.address)
      try two.waitFor("a.b", state: 3)
      // Others whose server is never there: each with its cause.
      let three = try Machine("three", bridging: Self.table)
      try three.connect(to: "tls://no-such-host.invalid", waits: false)
      try three.bridge?.waitForErrors("not connected to tls://no-such-host.invalid:4222: name")
    }
  }
}
