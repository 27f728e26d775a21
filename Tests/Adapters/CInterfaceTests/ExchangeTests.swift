import FrameBus
import Platform
import TestSupport
import Testing

/// Frames between programs in C and in Swift, with deaths on either side.
@Suite struct ExchangeTests {
  @Test func aPublisherInCLosesNoFrameForASubscriberInSwift() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish", "lossless=1", "frames=500", "intervalUs=100")
      try publisher.waitForOutput("publishing")
      let subscriber = try world.swift("subscribe", "policy=lossless")
      let received = try subscriber.finish()
      #expect(received.output.contains("finished ended received 500 dropped 0"))
      #expect(try publisher.finish().output.contains("finished"))
    }
  }

  @Test func aSubscriberInCLosesNoFrameOfAPublisherInSwift() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.swift(
        "publish", "lossless=1", "frames=500", "intervalUs=100", "wait=1", "grow=250")
      try publisher.waitForOutput("publishing")
      let received = try world.c("subscribe", "policy=lossless", "descriptor=1").finish()
      #expect(received.output.contains("result 3 reason 1 received 500 dropped 0"))
      #expect(received.output.contains("format 320x200 of 256000 bytes"))
      #expect(received.output.contains("format 640x200 of 512000 bytes"))
    }
  }

  @Test func framesLieInThePublishersMemoryWhichASubscriberCannotWrite() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish", "frames=200", "maps=1")
      try publisher.waitForOutput("publishing")
      let received = try world.c("subscribe", "maps=1").finish().output
      #expect(received.contains("mapping r--s "), "\(received)")
      #expect(received.contains("/memfd:framebus-pool-screen"), "\(received)")
      let published = try publisher.finish().output
      #expect(published.contains("mapping rw-s "), "\(published)")
      #expect(published.contains("/memfd:framebus-pool-screen"), "\(published)")
    }
  }

  @Test func aSubscriberInCGoesOnWithTheSuccessorOfAKilledPublisher() throws {
    try withWatchdog {
      let world = try CWorld()
      let first = try world.c("publish", "halfway=50", "frames=100")
      try first.waitForOutput("publishing")
      let subscriber = try world.c("subscribe", "descriptor=1")
      try first.waitForOutput("halfway")
      _ = try first.end(with: Signal.kill)
      let second = try world.swift("publish", "frames=100", "wait=1")
      let received = try subscriber.finish().output
      #expect(received.contains("result 3 reason 1"), "\(received)")
      #expect(!received.contains("TORN"), "\(received)")
      #expect(try second.finish().output.contains("finished"))
    }
  }

  @Test func killedSubscribersInCLeaveTheirLeasesAndSeatsFree() throws {
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish")
      try publisher.waitForOutput("publishing")
      let facts = ProcessFacts(publisher.processID)
      let before = try facts.descriptorCount
      for _ in 0..<20 {
        let subscriber = try world.c("subscribe", "hold=1", "leases=4")
        try subscriber.waitForOutput("holding")
        _ = try subscriber.end(with: Signal.kill)
      }
      try waitUntil("no subscriber is left") {
        try listStreams(in: world.group).first?.subscribers.isEmpty == true
      }
      try waitUntil("the descriptors are closed") { try facts.descriptorCount == before }
      let last = try world.c("subscribe", "frames=100").finish().output
      #expect(last.contains("result 0"), "\(last)")
      #expect(publisher.process.status == nil)
    }
  }

  @Test func fourThreadsReleaseWhatOneReceives() throws {
    try withWatchdog {
      let world = try CWorld()
      let result = try run(
        world.library.program("Threads"), [world.root.path, CWorld.groupName, "3000"])
      #expect(result.output.contains("3000 released"), "\(result.output)\(result.errors)")
    }
  }
}

/// Members that break every rule, beside a publisher and a subscriber in C.
@Suite struct HostileMemberTests {
  @Test func hostileMembersHarmNoPublisherAndNoSubscriberInC() throws {
    let seed = TestSeed(for: "HostileMemberTests")
    var generator = seed.generator
    try withWatchdog {
      let world = try CWorld()
      let publisher = try world.c("publish", "intervalUs=500")
      try publisher.waitForOutput("publishing")
      let honest = try [world.c("subscribe"), world.c("subscribe", "descriptor=1")]
      for subscriber in honest { try subscriber.waitForOutput("received") }
      let socket = world.group.streamsPath + "/screen.sock"
      for kind in ["scribble", "chatter", "mute", "steal", "hoard", "punch", "alarm"] {
        let number = UInt64.random(in: 1...(.max), using: &generator)
        let hostile = try RunningProgram("HostileMember", [kind, socket, "\(number)"])
        try hostile.waitForOutput("ready")
        let counts = honest.map { $0.output.text.split(separator: "\n").count }
        try waitUntil("the honest receive under \(kind)") {
          try honest.indices.allSatisfy {
            try #require(honest[$0].process.status == nil, "\(kind): \(honest[$0].transcript)")
            return honest[$0].output.text.split(separator: "\n").count > counts[$0] + 1
          }
        }
        #expect(publisher.process.status == nil, "\(kind): \(publisher.transcript)")
        _ = try hostile.end(with: Signal.kill)
      }
      for program in honest + [publisher] {
        let text = try program.end(with: Signal.kill).output
        #expect(!text.contains("TORN") && !text.contains("AGAIN"), "\(text)")
      }
    }
  }
}

/// What C may pass, and what it receives.
@Suite struct ArgumentTests {
  private func check(_ program: String) throws {
    try withWatchdog {
      let world = try CWorld()
      let result = try run(world.library.program(program), [world.root.path, CWorld.groupName])
      #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
      #expect(result.output.contains("checks"))
    }
  }

  @Test func wrongArgumentsAreErrorCodes() throws { try check("Arguments") }

  @Test func whatOneSideDescribesTheOtherReceives() throws { try check("Descriptions") }
}
