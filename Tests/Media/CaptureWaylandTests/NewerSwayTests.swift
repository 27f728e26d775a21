import Foundation
import FrameBus
import Platform
import TestSupport
import Testing

/// A compositor with ext-image-copy-capture: its outputs, and single windows.
@Suite(.enabled(if: SwaySession.newer != nil, "needs a newer sway: scripts/newer-sway"))
struct NewerSwayTests {
  @Test(arguments: ["normal", "90", "flipped-270"])
  func framesOfAnOutputEqualAnIndependentGrab(transform: String) throws {
    try withWorld("322x243", from: SwaySession.newer) { world in
      try world.session.command("output", SwaySession.firstOutput, "transform", transform)
      try world.session.showWindow("ff00ff", x: 20, y: 30, width: 100, height: 60)
      let capture = try world.capture("--no-cursor")
      var subscriber = try world.subscriber()
      let frame = try subscriber.take {
        guard $0[60, 60] == 0xFF00FF && $0[10, 10] == 0x204060 else { return false }
        return try $0.equals(world.session.independentGrab())
      }
      #expect((frame.orientation == .up) == (transform == "normal"))
      try capture.end(with: SIGTERM)
    }
  }

  @Test func windowIsCapturedFollowedAndEndsItsStream() throws {
    try withWorld(from: SwaySession.newer) { world in
      try world.session.showWindow("ff00ff", x: 20, y: 30, width: 100, height: 60)
      try world.session.showWindow("00ff00", x: 40, y: 40, width: 100, height: 60)
      var source: String?
      try waitUntil("both windows are listed") {
        let list = try run(
          "framebus", ["windows", "--json"], environment: world.session.environment)
        let windows = try JSONDecoder().decode([Listed].self, from: Data(list.output.utf8))
        source = windows.first { $0.title == "sample20-30" && $0.program == "sample" }?.source
        return windows.count == 2
      }
      let capture = try world.capture(source: try #require(source))
      var subscriber = try world.subscriber()
      // Whatever covers it.
      try subscriber.take {
        ($0.width, $0.height) == (100, 60) && $0[5, 5] == 0xFF00FF && $0[90, 50] == 0xFF00FF
      }
      try world.session.command("[title=\"sample20-30\"]", "resize set 140 90")
      try subscriber.take { ($0.width, $0.height) == (140, 90) && $0[130, 80] == 0xFF00FF }
      try world.session.command("[title=\"sample20-30\"]", "kill")
      #expect(try subscriber.ending() == .ended)
      #expect(try capture.finish().status == .exited(0), "\(capture.transcript)")
    }
  }

  private struct Listed: Decodable {
    let source: String
    let title: String
    let program: String
  }
}
