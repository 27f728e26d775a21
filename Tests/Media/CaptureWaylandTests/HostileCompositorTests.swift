import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A compositor that breaks the protocol ends a capture with an error at its start, and no stream
/// later. A program of ours stands for it: `FakeCompositor`.
@Suite struct HostileCompositorTests {
  /// What the compositor does, at which moment, and in which protocol.
  struct Deed: Sendable, CustomTestStringConvertible {
    let stage: String
    let name: String
    let protocols: String
    var testDescription: String { "\(name) at \(stage), \(protocols)" }
  }

  /// The protocols differ only from the first capture on. A message that is announced and does not
  /// come is noticed after ten seconds, wherever.
  private static func deeds(at stages: [String]) -> [Deed] {
    let names = [
      "close", "malformed", "oversize", "error", "flood", "strange", "damage", "twice", "early",
    ]
    return stages.flatMap { stage in
      let isLate = stage == "capture" || stage == "copy"
      let protocols = isLate ? FakeSession.protocols : [FakeSession.screencopy]
      return names.filter { $0 != "oversize" || isLate }.flatMap { name in
        protocols.map { Deed(stage: stage, name: name, protocols: $0) }
      }
    }
  }

  @Test(arguments: deeds(at: ["connect", "globals", "output", "capture"]))
  func captureStartsOrSaysWhatIsWrong(deed: Deed) throws {
    try captureStartsOrSays(deed.stage, deed.name, deed.protocols)
  }

  private func captureStartsOrSays(_ stage: String, _ deed: String, _ protocols: String) throws {
    try withFake(protocols, "at=\(stage)", "do=\(deed)", "times=1") { fake in
      let capture = try fake.capture("--frames", "1")
      if ["flood", "strange", "damage", "twice", "early"].contains(deed) {
        var subscriber = try fake.subscriber()
        try subscriber.take { $0[5, 5] == 0x204060 }
        #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
      } else {
        let result = try capture.finish()
        #expect(result.status == .exited(1), "\(result.status): \(result.errors)")
        #expect(result.errors.contains("the Wayland compositor at \(fake.socket) "))
      }
    }
  }

  @Test(arguments: deeds(at: ["globals", "pool", "capture", "copy"]))
  func streamGoesOnWhenTheCompositorIsMended(deed: Deed) throws {
    try streamGoesOn(deed.stage, deed.name, deed.protocols)
  }

  private func streamGoesOn(_ stage: String, _ deed: String, _ protocols: String) throws {
    try withFake(protocols) { fake in
      let capture = try fake.capture()
      var subscriber = try fake.subscriber()
      try subscriber.take { $0[5, 5] == 0x204060 }
      // A connection that ends is followed by another, in which all other stages come.
      try fake.send("at=\(stage)", "do=\(deed)", "times=1", "color=0x112233")
      try fake.send("color=0x445566", "width=80")
      // A compositor that says nothing more is noticed when a frame is needed.
      var second = try fake.subscriber()
      try second.take { $0[5, 5] == 0x445566 && $0.width == 80 }
      // Only a compositor that answers nothing takes so long.
      #expect(capture.process.status == nil, "\(capture.transcript)")
      try capture.end(with: SIGTERM)
    }
  }

  @Test(
    arguments: [
      ("width=0", "malformed"), ("height=70000", "malformed"), ("stride=100", "malformed"),
      ("stride=-4", "malformed"), ("format=0x36314752", "RG16"), ("format=7", "not supported"),
      ("off=1", "cannot capture the output FAKE-1"), ("version=0", "lacks the protocol"),
    ])
  func layoutThatNoFrameCanHaveIsRefused(value: String, reason: String) throws {
    let result = try FakeSession([value]).captured()
    #expect(result.status == .exited(1) && result.errors.contains(reason), "\(result.errors)")
  }

  @Test func changeToAMalformedLayoutPausesTheStream() throws {
    try withFake { fake in
      let capture = try fake.capture()
      let events = StreamEvents()
      var subscriber = try fake.subscriber { events.add($0) }
      try subscriber.take { $0[5, 5] == 0x204060 }
      for (index, wrong) in ["stride=1", "format=9", "off=1"].enumerated() {
        try fake.send(wrong, "color=0x111111")
        try waitUntil("the pause is told, only \(events.all)") {
          _ = try subscriber.take(within: .milliseconds(20))
          return events.all.filter { $0 == .paused(.unavailable) }.count == index + 1
        }
        try fake.send("stride=0", "format=1", "off=0", "color=0x44556\(index)")
        try subscriber.take { $0[5, 5] == 0x445560 + UInt32(index) }
      }
      try capture.end(with: SIGTERM)
    }
  }

  @Test func silentCompositorIsNamedAtTheStart() throws {
    try withWatchdog(after: .seconds(600)) {
      let result = try FakeSession(["at=globals", "do=silence"]).captured()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("does not answer"), "\(result.errors)")
    }
  }

  /// One that falls silent while nothing changes is noticed when a frame is needed.
  @Test func silentCompositorPausesTheStreamUntilItAnswers() throws {
    try withFake { fake in
      let capture = try fake.capture()
      let events = StreamEvents()
      var subscriber = try fake.subscriber { events.add($0) }
      try subscriber.take { $0[5, 5] == 0x204060 }
      try fake.send("at=copy", "do=silence", "times=1", "color=0x112233")
      var second = try fake.subscriber()
      try waitUntil("the pause is told") {
        _ = try subscriber.take(within: .milliseconds(20))
        return events.all.contains(.paused(.unavailable))
      }
      try second.take { $0[5, 5] == 0x112233 }
      try capture.end(with: SIGTERM)
    }
  }

  /// Rows in reverse, on an output that is turned: both are undone at the receiver.
  @Test(arguments: [(0, false), (1, false), (2, true), (5, true), (7, false), (0, true)])
  func pictureIsUprightWhateverLiesInMemory(transform: Int, isInverted: Bool) throws {
    try withFake("transform=\(transform)", "inverted=\(isInverted ? 1 : 0)") { fake in
      let capture = try fake.capture()
      var subscriber = try fake.subscriber()
      let picture = try subscriber.take { $0[20, 20] == 0x204060 }
      #expect(picture.width == (transform % 2 == 0 ? 64 : 48))
      // Where the first pixel in memory belongs, by wl_output.transform: up, turned to the left …
      let (right, bottom) = (picture.width - 1, picture.height - 1)
      let corners = [
        (0, 0), (right, 0), (right, bottom), (0, bottom), (right, 0), (0, 0), (0, bottom),
        (right, bottom),
      ]
      let flipped = [
        (0, bottom), (0, 0), (right, 0), (right, bottom), (right, bottom), (right, 0), (0, 0),
        (0, bottom),
      ]
      let corner = (isInverted ? flipped : corners)[transform]
      #expect(picture[corner.0, corner.1] == 0xFF0000, "\(picture.orientation)")
      try capture.end(with: SIGTERM)
    }
  }
}
