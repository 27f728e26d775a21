import CommandLineSupport
import Platform

/// A way to upload.
enum UploadSubject: String, CaseIterable {
  /// Two processes connected by the bus.
  case framebus
  /// The same elements in one process.
  case limit
  /// The same, with GStreamer's own pixel conversion.
  case gstreamer
}

/// The picture that every subject uploads: the test pattern, which contains its drawing time.
struct UploadScene: Sendable {
  let width: Int
  let height: Int
  let framesPerSecond: Int
  let folder: String
  let groupID: String

  var text: String { "\(height)p\(framesPerSecond)" }

  /// The programs that upload to a receiver on this port.
  func programs(of subject: UploadSubject, to port: Int) throws -> [CaptureSubject.Program] {
    switch subject {
    case .framebus:
      let group = ["--root", folder, "--group", groupID, "--stream", text]
      return [
        try own(
          "framebus-capture",
          ["test:bars", "--size", "\(width)x\(height)", "--fps", "\(framesPerSecond)"] + group),
        try own("framebus-upload", ["whip:http://127.0.0.1:\(port)/whip"] + group),
      ]
    case .limit: return [try bare("framebusconvert", to: port)]
    case .gstreamer: return [try bare("videoconvert", to: port)]
    }
  }

  private func bare(_ converter: String, to port: Int) throws -> CaptureSubject.Program {
    try own(
      "BareUpload", ["\(port)", "\(width)", "\(height)", "\(framesPerSecond)", converter])
  }

  private func own(
    _ name: String, _ arguments: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    try .own(name, arguments, for: "upload")
  }
}
