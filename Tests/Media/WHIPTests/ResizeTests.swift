#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// A window that its user resizes, at a receiver that decodes its pictures.
  @Suite struct ResizeTests {
    private let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func start(
      _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> RunningProgram {
      try RunningProgram(
        "framebus", arguments + ["--root", root.path], environment: environment)
    }

    @Test(arguments: ["h264", "vp8"])
    func receiverGetsEachSizeOfTheWindowInOneSession(encoder: String) throws {
      try withWatchdog {
        let screen = try VirtualScreen(width: 800, height: 600)
        let window = try ShownWindow("film", "320x240+10+10", on: screen)
        let server = try WebServer("whip_server.py", ["0"])
        let capture = try start(
          ["capture", "window:\(window.id)", "--stream", "window", "--fps", "20"],
          environment: screen.environment)
        let upload = try start(
          [
            "upload", "whip:\(server.address("whip"))", "--stream", "window", "--encoder", encoder,
          ])
        try server.program.waitForOutput(" 320x240\n")
        for (width, height) in [(400, 300), (642, 322), (200, 150)] {
          try window.perform("resize \(width) \(height)")
          try server.program.waitForOutput(" \(width)x\(height)\n")
        }
        let result = try upload.end(with: SIGTERM)
        #expect(result.status == .exited(0), "\(result.errors)")
        #expect(server.lines("POST") == ["POST 201"], "the session went on")
        try capture.end(with: SIGTERM)
      }
    }

    /// Of each size in the first pictures there are as many as without following, so a publisher
    /// that changes it all the time costs few key frames.
    @Test func sizeThatChangesWithEachPictureIsFollowedAtIntervals() throws {
      try withWatchdog {
        let server = try WebServer("whip_server.py", ["0"])
        let sizes = (0..<400).map { $0 % 2 == 0 ? "XR24:320x240:1:33333" : "XR24:240x320:1:33333" }
        let publisher = try RunningProgram(
          "UploadTestPublisher", [root.path, "screen", "live"] + sizes)
        let began = ContinuousClock.now
        let upload = try start(["upload", "whip:\(server.address("whip"))"])
        try server.program.waitForOutput(" 240x320\n")
        try publisher.finish()
        let result = try upload.finish()
        let halfSeconds = (ContinuousClock.now - began) / .milliseconds(500)
        #expect(result.status == .exited(0), "\(result.errors)")
        let seen = server.lines("frame ").compactMap { $0.split(separator: " ").last }
        let changes = zip(seen, seen.dropFirst()).count { $0 != $1 }
        // One in half a second, and not each.
        #expect(
          changes > 1 && Double(changes) <= halfSeconds + 1,
          "\(changes) of \(seen.count) in \(halfSeconds) half seconds")
      }
    }
  }
#endif
