import Foundation
import Platform
import TestSupport

/// A stream as a camera of PipeWire, and GStreamer as its readers.
struct OfferedCamera {
  static let (width, height) = (64, 48)
  private static var pictureBytes: Int { width * height * 3 / 2 }

  let world: PortalWorld

  init() throws { world = try PortalWorld() }

  /// Publishes pictures of one number, which their luma shows.
  func publish() throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture",
      [
        "test:flash", "--size", "64x48", "--root", world.root.path, "--group", "org.example.test",
      ],
      environment: world.session.environment)
  }

  /// What PipeWire lists: of another program, whose text is broken while objects come and go.
  func objects() throws -> [[String: Any]] {
    var objects: [[String: Any]]?
    try waitUntil("pw-dump prints a list") {
      let dump = try run("pw-dump", [], environment: world.session.environment).output
      objects = try? JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [[String: Any]]
      return objects != nil
    }
    return objects ?? []
  }

  /// The camera's node; nil if there is none.
  func findNode() throws -> String? {
    for object in try objects() {
      guard let info = object["info"] as? [String: Any],
        let properties = info["props"] as? [String: Any],
        properties["node.name"] as? String == "Desk",
        properties["media.class"] as? String == "Video/Source", let id = object["id"] as? Int
      else { continue }
      return "\(id)"
    }
    return nil
  }

  func node(_ note: () -> String = { "" }) throws -> String {
    var found: String?
    try waitUntil("the camera is there: \(note())") {
      found = try findNode()
      return found != nil
    }
    return found ?? ""
  }

  func reader(_ node: String, _ file: String, count: Int) throws -> RunningProgram {
    try world.session.start(
      "gst-launch-1.0",
      [
        "-e", "pipewiresrc", "path=\(node)", "num-buffers=\(count)", "!", "video/x-raw,format=I420",
        "!", "filesink", "buffer-mode=2", "location=\(world.root.file(file))",
      ])
  }

  /// The luma of the corners of each picture in a file.
  func pictures(_ file: String) throws -> [[UInt8]] {
    // The reader creates it.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: world.root.file(file))) else {
      return []
    }
    let bytes = [UInt8](data)
    let size = Self.pictureBytes
    return (0..<bytes.count / size).map { index in
      let start = index * size
      return [bytes[start], bytes[start + Self.width * Self.height - 1]]
    }
  }
}
