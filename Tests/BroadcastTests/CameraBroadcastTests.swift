import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// Broadcasts of a camera, before one that FakeCamera makes up. Only root can give a program its
/// own /dev, which a private root shows.
@Suite(.enabled(if: currentUserID() == 0, "only root can give a program its own /dev"))
struct CameraBroadcastTests {
  private let scene: BroadcastScene

  init() throws { scene = try BroadcastScene() }

  private func start(_ camera: [String], _ options: String...) throws -> RunningProgram {
    try RunningProgram(
      "FakeCamera",
      camera + ["journal=\(scene.root.file("journal"))", "--", try pathOfProgram("framebus")] + [
        "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
        BroadcastScene.extensionID, "--yes", "--source", "camera:/dev/video77",
      ] + options)
  }

  private func waitForPictures(of host: RunningProgram) throws {
    try waitUntil("a picture arrives: \(scene.trace) \(host.transcript)") {
      if let status = host.process.status { throw HarnessError("\(status) \(host.transcript)") }
      return scene.trace.contains("video")
    }
  }

  /// What a role finds in its /dev.
  private func devices(of role: Role) throws -> [String] {
    let pid = try #require(try scene.controller.status.pids[role])
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/root" + "/dev")
  }

  @Test func confinedCaptureReachesItsCameraAndTheExtensionDoesNot() throws {
    try withWatchdog {
      let host = try start([])
      try waitForPictures(of: host)
      let how = try scene.controller.status.confinement
      #expect(how[.capture]?.hasPrefix("on") == true, "\(how)")
      if how.values.allSatisfy({ !$0.contains("private-root") }) {
        #expect(try devices(of: .capture).contains("video77"))
        #expect(try !devices(of: .extension).contains("video77"))
      }
      #expect(try host.end(with: SIGINT).status == .exited(130), "\(host.transcript)")
    }
  }

  /// Another capture takes the place of one that cannot see a camera which is back.
  @Test func unpluggedCameraIsBackInAnotherSandbox() throws {
    try withWatchdog {
      let host = try start(["unplug=120", "absences=2"])
      try waitForPictures(of: host)
      let first = try #require(try scene.controller.status.pids[.capture])
      let journal = scene.root.file("journal")
      try waitUntil("the camera starts again: \(host.transcript)") {
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        let later = text.components(separatedBy: "back\n").dropFirst().last
        return later?.contains("start") == true
      }
      #expect(try scene.controller.status.pids[.capture] != first)
      #expect(try host.end(with: SIGINT).status == .exited(130), "\(host.transcript)")
    }
  }

  #if Media
    /// The program of the decoder takes the capture's place in its sandbox.
    @Test func encodedCameraIsDecodedInTheSandbox() throws {
      try withWatchdog {
        let file = scene.root.file("picture")
        try output(
          of: "gst-launch-1.0",
          "-q videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! jpegenc ! filesink"
            .split(separator: " ").map(String.init) + ["location=\(file)"])
        let host = try start(["encoding=MJPG", "picture=\(file)"])
        try waitForPictures(of: host)
        let status = try scene.controller.status
        #expect(status.confinement[.capture]?.hasPrefix("on") == true, "\(status.confinement)")
        let pid = try #require(status.pids[.capture])
        let line = try Data(contentsOf: URL(filePath: "/proc/\(pid)/cmdline")).split(separator: 0)
        #expect(
          line.first.map { String(decoding: $0, as: UTF8.self) }?.hasSuffix("gstreamer") == true)
        #expect(try host.end(with: SIGINT).status == .exited(130), "\(host.transcript)")
      }
    }
  #endif
}
