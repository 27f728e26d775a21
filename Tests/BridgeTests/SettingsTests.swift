import Foundation
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import Platform
@testable import SharedDefaults

/// Suites of settings that several machines share.
@Suite(.serialized) struct SettingsTests {
  private static let table = #"suites = ["a.s"]"#

  private func machine(_ name: String, _ server: NATSServer? = nil) throws -> Machine {
    let machine = try Machine(name, bridging: Self.table)
    if let server { try machine.connect(to: server.address) }
    return machine
  }

  private func waitFor(_ key: String, _ value: DefaultsValue?, on machines: Machine...) throws {
    for machine in machines {
      let suite = try machine.suite("a.s")
      try waitUntil(
        "\(machine.name) has \(String(describing: value)) of \(key)\n"
          + (machine.bridge?.transcript ?? "")
      ) { suite.value(forKey: key) == value }
    }
  }

  @Test func changeOfSeveralKeysStaysAtomic() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      let (source, copy) = (try one.suite("a.s"), try two.suite("a.s"))
      for number in 1...200 {
        try source.update { draft in
          draft["x"] = .integer(number)
          draft["y"] = .integer(-number)
        }
        let values = copy.storedValues()
        if case .integer(let x) = values["x"] { #expect(values["y"] == .integer(-x)) }
      }
      try waitFor("x", 200, on: two)
      #expect(copy.value(forKey: "y") == -200)
      try source.removeObject(forKey: "x")
      try waitFor("x", nil, on: two)
    }
  }

  @Test func keysThatTwoMachinesSetAtOnceAreAllKept() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = [try machine("one", server), try machine("two", server)]
      let count = 60
      for number in 0..<count {
        for machine in all {
          try machine.suite("a.s").set(number, forKey: "\(machine.name)\(number)")
        }
      }
      for machine in all {
        let suite = try machine.suite("a.s")
        try waitUntil(
          "\(machine.name) has all keys, not \(suite.storedValues().count)\n"
            + (machine.bridge?.transcript ?? "")
        ) { suite.storedValues().count == 2 * count }
      }
      // A version that another one came before is made again, without a warning.
      for machine in all {
        #expect(machine.bridge?.errors.text.contains("the settings a.s wait") == false)
      }
    }
  }

  @Test func laterWriterWinsAndBothWritersAreLogged() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      try one.suite("a.s").set(1, forKey: "k")
      try waitFor("k", 1, on: two)
      // Machine two is cut off, and both change the same key; each also one of its own.
      try two.disconnect()
      try one.suite("a.s").update { draft in
        draft["k"] = 10
        draft["ofOne"] = 1
      }
      try two.suite("a.s").update { draft in
        draft["k"] = 20
        draft["ofTwo"] = 2
      }
      try waitUntil("the server has the change") {
        one.bridge?.errors.text.contains("sent 2 keys") == true
      }
      try two.connect(to: server.address)
      try waitFor("k", 20, on: one, two)
      try waitFor("ofOne", 1, on: two)
      try waitFor("ofTwo", 2, on: one)
      try two.bridge?.waitForErrors(
        "settings a.s, key k: two and one both changed it; the later value, of two, replaces that"
          + " of one")
    }
  }

  @Test func joiningMachineTakesTheGroupsValuesAndAddsItsOwnKeys() throws {
    try withWatchdog {
      let server = try NATSServer()
      let one = try machine("one", server)
      try one.suite("a.s").set("group", forKey: "k")
      try one.bridge?.waitForErrors("sent 1 keys")
      let two = try machine("two")
      try two.suite("a.s").update { draft in
        draft["k"] = "own"
        draft["new"] = true
      }
      try two.connect(to: server.address)
      try waitFor("k", "group", on: one, two)
      try waitFor("new", true, on: one, two)
    }
  }

  @Test func serverThatLostItsFilesGetsTheSuiteAgain() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      try one.suite("a.s").set(1, forKey: "k")
      try waitFor("k", 1, on: two)
      try server.kill()
      try FileManager.default.removeItem(atPath: server.root.file("store"))
      try two.suite("a.s").set(2, forKey: "k")
      try server.start()
      try waitFor("k", 2, on: one, two)
      // The same without a change, which would bring the suite to the server anyway.
      try server.kill()
      try FileManager.default.removeItem(atPath: server.root.file("store"))
      try server.start()
      try waitFor("k", 2, on: try machine("three", server))
    }
  }

  @Test func suitesThatAreNotListedAndKeysThatNameSecretsStay() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two", server))
      try one.suite("a.other").set(1, forKey: "k")
      let plain = try SharedDefaults(
        suiteName: "a.s", in: one.group, plainKeys: ["tokenCount"])
      try plain.set(5, forKey: "tokenCount")
      try one.bridge?.waitForErrors("too large to cross, or names a secret")
      try plain.removeObject(forKey: "tokenCount")
      try plain.set(1, forKey: "k")
      try waitFor("k", 1, on: two)
      #expect(try !two.suite("a.other").exists)
    }
  }

  @Test func clockThatIsSetBackChangesNoOrder() throws {
    try withWatchdog {
      let server = try NATSServer()
      let (one, two) = (try machine("one", server), try machine("two"))
      try two.connect(
        to: server.address,
        environment: fakeTime("-1h"), isConfined: false)
      try one.suite("a.s").set(1, forKey: "k")
      try waitFor("k", 1, on: two)
      try two.suite("a.s").set(2, forKey: "k")
      try waitFor("k", 2, on: one)
    }
  }
}
