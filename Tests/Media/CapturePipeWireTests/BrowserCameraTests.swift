import Foundation
import Platform
import TestSupport
import Testing

/// A stream as a camera of PipeWire, in browsers, which reach it through the desktop's portal.
@Suite(.enabled(if: PipeWireSession.isAvailable, "\(PipeWireSession.need)"))
struct BrowserCameraTests {
  private struct Seen: Decodable {
    let width: Int
    let height: Int
    let luma: Int
    let label: String
    let problem: String
  }

  @Test(arguments: ["chromium", "firefox"])
  func pageSeesThePicturesOfAnUpload(browser: String) throws {
    try withWatchdog {
      let camera = try OfferedCamera()
      let world = camera.world
      let portal = try world.portal()
      defer { portal.end() }
      let capture = try camera.publish()
      let upload = try RunningProgram(
        "framebus-upload",
        ["camera:Desk", "--root", world.root.path, "--group", "org.example.test"],
        environment: world.session.environment)
      _ = try camera.node()
      let page = try RunningProgram(
        "/usr/bin/python3", [tool("watch_camera.py"), browser],
        environment: world.session.environment)
      func seen() -> [Seen] {
        page.output.text.split(separator: "\n").compactMap {
          try? JSONDecoder().decode(Seen.self, from: Data($0.utf8))
        }
      }
      // The pattern is black, and white for a moment of each second.
      try waitUntil("black and white pictures: \(seen().suffix(2)) \(page.errors.text)") {
        let pictures = seen().filter { ($0.width, $0.height) == (64, 48) }
        return pictures.contains { $0.luma > 200 } && pictures.contains { (0..<50) ~= $0.luma }
      }
      #expect(portal.program.output.text.contains("camera"))
      #expect(seen().last?.label == "Desk")
      try page.end(with: SIGTERM)
      #expect(upload.process.status == nil, "\(upload.transcript)")
      try upload.end(with: SIGTERM)
      try capture.end(with: SIGTERM)
    }
  }
}
