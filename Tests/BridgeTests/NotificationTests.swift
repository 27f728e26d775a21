import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AppGroup
@testable import Bridge
@testable import NotifyCenter
@testable import Platform

/// Notifications between machines, over real servers.
@Suite(.serialized) struct NotificationTests {
  private static let table = #"notifications = ["a.b", "a.c"]"#

  private func machines(_ names: String..., server: NATSServer) throws -> [Machine] {
    try names.map { name in
      let machine = try Machine(name, bridging: Self.table)
      try machine.connect(to: server.address)
      return machine
    }
  }

  @Test func postCrossesOnceWithItsState() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", "three", server: server)
      try all[0].post("a.b", state: 1 << 63 | 7)
      for machine in all { try machine.waitFor("a.b", state: 1 << 63 | 7) }
      try all[2].post("a.b", state: 5)
      for machine in all { try machine.waitFor("a.b", state: 5) }
      // A note that came back would arrive before this one.
      try all[1].post("a.c", state: 9)
      for machine in all { try machine.waitFor("a.c", state: 9) }
      for machine in all {
        #expect(try machine.generation("a.b") == 2)
        #expect(try machine.generation("a.c") == 1)
      }
    }
  }

  @Test func namesThatTheManifestDoesNotListStayOnTheirMachine() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      try all[0].post("a.secret", state: 1)
      try all[0].post("a.b", state: 2)
      try all[1].waitFor("a.b", state: 2)
      #expect(try all[1].generation("a.secret") == 0)
    }
  }

  @Test func nameThatTheRoleMayNoLongerPostIsNotPosted() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      var number: UInt64 = 0
      func cross() throws {
        number += 1
        try all[0].post("a.b", state: number)
        try all[1].waitFor("a.b", state: number)
      }
      try cross()
      try all[1].add("[notifications.extension]\npost = [\"x.\"]\nset = [\"a.\"]")
      try waitUntil("the bridge posts nothing more\n\(all[1].bridge?.transcript ?? "")") {
        // The second one arrives after all that the first one did.
        try cross()
        let generation = try all[1].generation("a.b")
        try cross()
        return try all[1].generation("a.b") == generation
      }
    }
  }

  @Test func serverThatWasKilledLosesNoPost() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      try all[0].post("a.b", state: 1)
      try all[1].waitFor("a.b", state: 1)
      try server.kill()
      for number in 2...50 { try all[0].post("a.b", state: UInt64(number)) }
      try all[1].post("a.c", state: 77)
      try server.start()
      try all[1].waitFor("a.b", state: 50)
      try all[0].waitFor("a.c", state: 77)
      // Posts made meanwhile arrive as one.
      #expect(try all[1].generation("a.b") == 2)
      #expect(try all[0].generation("a.c") == 1)
    }
  }

  @Test func machineThatJoinsAfterTheServerLostItsMemoryLearnsTheStates() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      try all[0].post("a.b", state: 4)
      try all[1].waitFor("a.b", state: 4)
      try server.kill()
      try server.start()
      let joining = try machines("three", server: server)[0]
      try joining.waitFor("a.b", state: 4)
    }
  }

  /// Whatever of a machine was restarted before.
  @Test func bridgeThatWasRestartedFillsAServerThatLosesItsMemory() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      try all[0].post("a.b", state: 4)
      try all[1].waitFor("a.b", state: 4)
      try all[0].disconnect()
      try all[0].connect(to: server.address)
      try server.kill()
      try server.start()
      let joining = try machines("three", server: server)[0]
      try joining.waitFor("a.b", state: 4)
      // One that had it is told nothing new; this would arrive after it.
      try all[0].post("a.c", state: 1)
      try all[1].waitFor("a.c", state: 1)
      #expect(try all[1].generation("a.b") == 1)
    }
  }

  /// The connection of notifications may be made after the one on which the loss was found.
  @Test func newestNoteIsSentUntilItIsAcknowledgedAlsoToAServerThatLostIt() throws {
    let machine = try Machine("one", bridging: Self.table)
    let notes = Mutex<[Note]>([])
    let isConnected = Atomic(true)
    var sent: [Note] { notes.withLock { $0 } }
    let exchange = try NoteExchange(
      machine.center, in: Directory(path: machine.root.path), as: #require(MachineName("one")),
      machineID: 7, start: 1
    ) { note in
      guard isConnected.load(ordering: .relaxed) else { return false }
      notes.withLock { $0.append(note) }
      return true
    }
    #expect(exchange.follow(["a.b"]) == [])
    try machine.post("a.b", state: 4)
    try waitUntil("it is sent") { sent.count == 1 }
    let note = sent[0]
    exchange.acknowledge(note.position)
    exchange.resend(unacknowledgedFor: 0)
    #expect(sent == [note])
    isConnected.store(false, ordering: .relaxed)
    exchange.resend(unacknowledgedFor: 0, all: true)
    isConnected.store(true, ordering: .relaxed)
    exchange.resend(unacknowledgedFor: 0)
    #expect(sent == [note, note])
    exchange.acknowledge(note.position)
    exchange.resend(unacknowledgedFor: 0)
    #expect(sent == [note, note])
    try machine.post("a.b", state: 5)
    try waitUntil("the next one is sent") { sent.last?.state == 5 }
  }

  @Test func bridgeThatWasKilledLearnsTheNewestStateOnce() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", "three", server: server)
      try all[0].post("a.b", state: 1)
      for machine in all.dropFirst() { try machine.waitFor("a.b", state: 1) }
      try all[1].disconnect(with: SIGKILL)
      for number in 2...20 { try all[0].post("a.b", state: UInt64(number)) }
      // Then the server has them all.
      try all[2].waitFor("a.b", state: 20)
      // Posts of the machine whose bridge is dead cross later.
      try all[1].post("a.c", state: 3)
      try all[1].connect(to: server.address)
      try all[1].waitFor("a.b", state: 20)
      try all[0].waitFor("a.c", state: 3)
      #expect(try all[1].generation("a.b") == 2)
    }
  }

  /// Whichever of the two machines has the greater ID, which decides between equal stamps.
  @Test func postWithoutANewStateTakesNoStateBack() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", "three", server: server)
      try all[0].post("a.b", state: 1)
      for machine in all { try machine.waitFor("a.b", state: 1) }
      for (setter, poster) in [(0, 1), (1, 0)] {
        let state = UInt64(10 + setter)
        try all[setter].disconnect(with: SIGKILL)
        // Posted before this machine can know of the new state.
        let generation = try all[2].generation("a.b")
        try all[poster].post("a.b")
        try waitUntil("the post has crossed") { try all[2].generation("a.b") > generation }
        try all[setter].post("a.b", state: state)
        try all[setter].connect(to: server.address)
        for machine in all { try machine.waitFor("a.b", state: state) }
      }
    }
  }

  @Test func statesThatTwoMachinesSetAtOnceEndAsOne() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      try all[0].post("a.b", state: 1)
      try all[1].waitFor("a.b", state: 1)
      for machine in all { try machine.disconnect() }
      // Both get the same stamp.
      for (number, machine) in all.enumerated() {
        try machine.post("a.b", state: UInt64(10 + number))
      }
      for machine in all { try machine.connect(to: server.address) }
      try waitUntil("both have the same state") { try all[0].state("a.b") == all[1].state("a.b") }
      #expect(try all[0].state("a.b") >= 10)
    }
  }

  @Test func secondBridgeOfAGroupIsRefused() throws {
    try withWatchdog {
      let server = try NATSServer()
      let machine = try machines("one", server: server)[0]
      let second = try run(
        "framebus", ["bridge", server.address, "--machine", "other"] + machine.options)
      #expect(second.status == .exited(1))
      #expect(second.errors.contains("already has a bridge on this machine"))
    }
  }

  @Test func machineNameInUseIsRefused() throws {
    try withWatchdog {
      let server = try NATSServer()
      let machine = try machines("one", server: server)[0]
      try waitUntil("the first machine is known") {
        let directory = try GroupDirectory(of: machine.group)
        return directory.entries.contains { $0.isPresent }
      }
      let other = try Machine("one", bridging: Self.table)
      try other.connect(to: server.address, waits: false)
      let result = try #require(try other.bridge?.finish())
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("another machine of the group is connected as one"))
    }
  }

  @Test func floodOfPostsIsMergedAndItsLastStateArrives() throws {
    try withWatchdog {
      let server = try NATSServer()
      let all = try machines("one", "two", server: server)
      let count: UInt64 = 200_000
      let name = try NotificationName("a.b")
      let poster = try all[0].center.poster(of: name)
      for number in 1...count {
        if number % 1000 == 0 { try all[0].center.setState(number, of: name) }
        try poster.post()
      }
      try all[1].waitFor("a.b", state: count)
      let arrived = try all[1].generation("a.b")
      #expect(arrived < count / 2, "\(arrived) posts of \(count) crossed one by one")
    }
  }
}
