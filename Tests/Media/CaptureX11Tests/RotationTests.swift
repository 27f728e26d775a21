import Foundation
import FrameBus
import TestSupport
import Testing

/// A monitor that RANDR rotates while its screen is captured.
@Suite(.enabled(if: MachineScreen.isFree, "it takes the machine's screen, as in scripts/vm"))
struct RotationTests {
  @Test func turnedScreenContinuesUprightAtItsNewSize() throws {
    try withWatchdog(after: .seconds(600)) {
      let files = try TemporaryRoot()
      let world = try ScreenWorld(MachineScreen.start(in: files))
      try world.paint("#112233")
      let corner = try ShownWindow("corner", "60x40+0+0", on: world.screen)
      let capture = try world.capture("--no-cursor")
      let events = StreamEvents()
      var subscriber = try world.subscriber { events.add($0) }
      _ = try subscriber.take { $0.width == 800 && $0.magentaCount == 60 * 40 }
      for (turn, width, height) in [
        ("left", 600, 800), ("inverted", 800, 600), ("right", 600, 800), ("normal", 800, 600),
      ] {
        try MachineScreen.turn(world.screen, "--rotate", turn)
        // A rotation changes nothing in the root window's picture; this does.
        let color: UInt32 = turn == "left" || turn == "right" ? 0x445566 : 0x112233
        try world.paint("#" + String(color, radix: 16))
        let frame = try subscriber.take {
          $0.width == width && $0.height == height && $0.pixel(width - 1, height - 1) == color
            && $0.magentaCount == 60 * 40
        }
        #expect(frame.orientation == .up)
        let corners = [
          frame.pixel(0, 0), frame.pixel(width - 1, 0), frame.pixel(0, height - 1),
          frame.pixel(59, 39), frame.pixel(39, 59),
        ]
        #expect(corners == [magenta, color, color, magenta, color], "\(turn)")
        let grab = try world.independentGrab(width: width, height: height)
        #expect(frame.differences(from: grab).isEmpty, "\(turn)")
      }
      #expect(
        events.all.allSatisfy { [.paused(.transition), .resumed].contains($0) },
        "nobody reconnected")
      try capture.end(with: SIGTERM)
      try corner.close()
    }
  }
}
