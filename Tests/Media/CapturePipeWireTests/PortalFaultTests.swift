import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// Portals, users and producers that do what they should not.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct PortalFaultTests {
  private static let faults = [
    "decline": "the user declined", "cancel": "ended the session: the portal: it ended the request",
    "refuse": "refused: org.freedesktop.portal.ScreenCast.Error.NotAllowed",
    "no-streams": "it names no stream", "odd-streams": "it names no stream",
    "odd-response": "its answer is malformed", "odd-handle": "its answer is malformed",
    "odd-properties": "its answer is malformed", "long-handle": "its answer is malformed",
    "no-descriptor": "refused: org.freedesktop.portal.ScreenCast.Error.Failed",
    "no-node": "PipeWire has no such node",
  ]

  @Test func eachFaultIsAnErrorThatSaysSo() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      for (fault, text) in Self.faults.sorted(by: { $0.key < $1.key }) {
        try portal.tell("fault \(fault)")
        try portal.program.waitForOutput("done fault \(fault)")
        try world.expectFailure(text, note: fault)
      }
      try portal.tell("fault monitor-only")
      try portal.program.waitForOutput("done fault monitor-only")
      try world.expectFailure("does not offer such a source", source: "portal:window")
    }
  }

  /// Neither a portal that never answers nor a stranger's answer holds anybody up.
  @Test func silentPortalEndsAtTheDeadlineAndAtASignal() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal("silent")
      defer { portal.end() }
      try world.expectFailure("the desktop's portal does not answer")
      try portal.tell("fault other-sender")
      try portal.program.waitForOutput("done fault other-sender")
      try world.expectFailure("the desktop's portal does not answer")
      try portal.tell("fault absent-user")
      try portal.program.waitForOutput("done fault absent-user")
      let capture = try world.capture()
      try portal.program.waitForOutput("dialog")
      #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
      let second = try world.capture("--duration", "0.5")
      #expect(try second.finish().status == .exited(0), "\(second.transcript)")
    }
  }

  /// What ends while the user chooses: the session, and the portal itself.
  @Test(arguments: ["close", "kill"])
  func dialogThatGoesAwayIsNamed(end: String) throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal("absent-user")
      defer { portal.end() }
      let capture = try world.capture()
      try portal.program.waitForOutput("dialog")
      if end == "close" { try portal.tell("close") } else { try portal.program.end(with: SIGKILL) }
      let result = try capture.finish()
      #expect(result.status == .exited(1), "\(result)")
      let reason =
        end == "close"
        ? "ended the session: the portal: it closed the session" : "(the portal: it has ended)"
      #expect(result.errors.contains(reason), "\(result.errors)")
    }
  }

  @Test func missingPartsOfADesktopAreNamed() throws {
    try withWatchdog {
      let world = try PortalWorld(hasManager: false)
      try world.expectFailure("no desktop portal offers pictures")
      let nowhere = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
      try world.expectFailure("the session bus", environment: nowhere)
      try world.expectFailure("portal:monitor", source: "portal:desk")
      // Without WirePlumber nobody links the two nodes.
      let portal = try world.portal()
      let producer = try world.producer()
      defer {
        portal.end()
        producer.end()
      }
      try world.expectFailure("no session manager runs")
    }
  }

  @Test func hostileProducersHarmNothingButTheirPictures() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let portal = try world.portal()
      defer { portal.end() }
      // A subscriber is needed, as the producer rests otherwise.
      for (memory, text) in [
        ("outside", "pictures lies in its memory"), ("wild", "pictures lies in its memory"),
        ("unmappable", "graphics memory (DMA-BUF), which cannot be read by the processor"),
      ] {
        let producer = try world.producer(memory)
        let capture = try world.capture()
        if memory != "unmappable" {
          var subscriber = try world.subscriber()
          while try subscriber.take(within: .milliseconds(200)) != nil {}
          try waitUntil("it has ended: \(capture.transcript)") {
            _ = try? subscriber.take(within: .milliseconds(20))
            return capture.process.wait(until: .now) != nil
          }
        }
        let result = try capture.finish()
        #expect(result.status == .exited(1) && result.errors.contains(text), "\(memory): \(result)")
        producer.end()
        try producer.program.finish()
      }
      // One that shrinks its file under the reader loses that picture, whatever it calls the file.
      for memory in ["shrinking", "posing"] {
        let producer = try world.producer(memory)
        let capture = try world.capture()
        var subscriber = try world.subscriber()
        for _ in 0..<20 { #expect(try subscriber.take()?.number != nil, "\(memory)") }
        #expect(try capture.end(with: SIGTERM).status == .exited(0), "\(capture.transcript)")
        producer.end()
        try producer.program.finish()
      }
    }
  }

  /// As after an update of the desktop: another portal gives another node.
  @Test func portalThatEndsIsAskedAgainWhenItIsBack() throws {
    try withWatchdog {
      let world = try PortalWorld()
      let producer = try world.producer()
      let first = try world.portal()
      let capture = try world.capture()
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      try subscriber.take { $0.number != nil }
      try first.program.end(with: SIGKILL)
      try waitUntil("the pause is told, only \(events.all)\n\(capture.transcript)") {
        _ = try subscriber.take(within: .milliseconds(20))
        return events.count(.paused(.unavailable)) == 1
      }
      producer.end()
      try producer.program.finish()
      let next = try world.producer()
      let second = try world.portal()
      defer {
        second.end()
        next.end()
      }
      try waitUntil("it goes on, only \(events.all)") {
        _ = try subscriber.take(within: .milliseconds(20))
        return events.count(.resumed) == 1
      }
      let picture = try? subscriber.take { $0.number != nil }
      #expect(picture != nil, "\(capture.transcript)\n\(next.program.transcript)")
      try capture.end(with: SIGTERM)
    }
  }
}
