#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing
  import WHIP

  /// The capture and the encoder follow the size in which viewers show the pictures.
  @Suite struct ShownSizeTests {
    @Test func attributeIsReadAsRFC6236WritesIt() {
      for (text, size) in [
        ("imageattr:* recv [x=1170,y=658]", "1170x658"),
        ("imageattr:97 send [x=4,y=5] recv [x=320,y=240,q=0.5]", "320x240"),
        ("imageattr:* recv [y=240,x=320]", "320x240"), ("imageattr:* send [x=320,y=240]", nil),
        ("imageattr:* recv *", nil), ("imageattr:* recv [x=0,y=5]", nil),
        ("imageattr:* recv [x=99999,y=5]", nil), ("imageattr:* recv [x=5]", nil),
        ("imageattr:* recv", nil), ("mid:0 recv [x=5,y=5]", nil), ("", nil),
      ] {
        let read = ShownSize(attribute: text)
        #expect(read.map { "\($0.width)x\($0.height)" } == size, "\(text)")
      }
    }

    @Test func viewersReceiveThePicturesInTheSizeOfTheLargest() throws {
      try withWatchdog {
        let root = try TemporaryRoot()
        let screen = try VirtualScreen(width: 640, height: 480)
        let capture = try root.framebus("capture", "screen:\(screen.display)", "--fps", "10")
        let view = try ViewProgram(root)
        let phone = try viewer(view, "size=150x110")
        try phone.waitForOutput(" 160x120\n")
        #expect(!phone.output.text.contains("640x480"), "its size was known before the first frame")
        // Another one states nothing.
        let whole = try viewer(view)
        try whole.waitForOutput(" 640x480\n")
        try phone.waitForOutput(" 640x480\n")
        let before = phone.output.text.utf8.count
        try whole.end(with: SIGTERM)
        try waitUntil("the pictures are small again") {
          phone.output.text.utf8.dropFirst(before).split(separator: 10).last.map {
            String(decoding: $0, as: UTF8.self).hasSuffix(" 160x120")
          } == true
        }
        try phone.end(with: SIGTERM)
        // The size changes while it watches, as that of a window does.
        let turned = try viewer(view, "size=150x110", "later=300x230")
        try turned.waitForOutput(" 160x120\n")
        try turned.waitForOutput("PATCH 204")
        try turned.waitForOutput(" 320x240\n")
        try turned.end(with: SIGTERM)
        try view.program.end(with: SIGTERM)
        try capture.end(with: SIGTERM)
      }
    }

    private func viewer(_ view: ViewProgram, _ settings: String...) throws -> RunningProgram {
      try RunningProgram(
        "/usr/bin/python3", [tool("whep_viewer.py"), view.url + "whep"] + settings)
    }

    @Test func pageStatesTheSizeOfItsPicture() throws {
      try withWatchdog {
        let root = try TemporaryRoot()
        let screen = try VirtualScreen(width: 2400, height: 1800)
        let capture = try root.framebus("capture", "screen:\(screen.display)", "--fps", "5")
        let view = try ViewProgram(root)
        let page = try BrowserPage(view.url)
        // The window of a headless browser is 800 pixels wide.
        try page.wait(for: "a picture that fits") { sights in
          sights.last.map { (300..<2400).contains($0.width) && 2400 % $0.width == 0 } ?? false
        }
        try page.program.end(with: SIGTERM)
        try view.program.end(with: SIGTERM)
        try capture.end(with: SIGTERM)
      }
    }
  }
#endif
