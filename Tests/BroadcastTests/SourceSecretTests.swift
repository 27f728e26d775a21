import Foundation
import Platform
import SharedDefaults
import TestSupport
import Testing

@testable import Broadcast

/// Every member can read the record of a broadcast, and a source may have a secret.
@Suite struct SourceSecretTests {
  private static let secret = "gst:rtspsrc user-pw=s3cret"

  private func record(of source: String) -> BroadcastRecord {
    BroadcastRecord(session: SessionID(), extensionID: "", source: source, stream: "screen")
  }

  @Test func digestsRecogniseOnlyTheirSources() throws {
    var request = BroadcastRequest(extensionID: "", source: Self.secret)
    request.soundSources = [.audioApp: Self.secret, .audioMic: "pulse:mic"]
    var written = record(of: "")
    written.options = SessionOptions(request)
    try written.setSources(of: request)
    #expect(!"\(written) \(written.value)".contains("s3cret"))
    let read = try #require(BroadcastRecord(written.value))
    #expect(read == written && read.source == "gst:rtspsrc …")
    #expect(try read.isOf(Self.secret) && read.options.captures(.audioApp, from: Self.secret))
    for other in [Self.secret + "s", read.source, "test"] {
      #expect(try !read.isOf(other) && !read.options.captures(.audioApp, from: other))
    }
    #expect(try read.options.captures(.audioMic, from: "pulse:mic"))
    #expect(try !read.options.captures(.audioMic, from: nil))
    #expect(try read.options.differences(to: request).isEmpty)
    // Any member can write the record.
    for malformed in ["", "0", "zz", String(repeating: "0", count: 95)] {
      guard case .dictionary(var values) = written.value else { return }
      values["sourceDigest"] = .string(malformed)
      #expect(try BroadcastRecord(.dictionary(values))?.isOf(Self.secret) == false)
    }
  }

  @Test func recordOfAnOlderBuildHasTheWholeSource() throws {
    var written = record(of: Self.secret)
    written.options.soundSources = [.audioApp: Self.secret]
    let read = try #require(BroadcastRecord(written.value))
    #expect(try read.isOf(Self.secret) && read.options.captures(.audioApp, from: Self.secret))
    #expect(try !read.isOf("gst:rtspsrc …") && !read.isOf(Self.secret + "s"))
    #expect(read.optionTexts["app-source"] == "gst:rtspsrc …")
  }

  #if Media
    private static func pictures(_ secret: String) -> String {
      "gst:videotestsrc name=\(secret) ! video/x-raw,width=64,height=48,framerate=10/1"
    }
    private static func sound(_ secret: String) -> String { "gst:audiotestsrc name=\(secret)" }

    @Test func recordTellsSourcesApartWithoutTheirSecrets() throws {
      try withWatchdog {
        let secret = "canary-" + String(UInt64.random(in: 1 << 60 ... .max), radix: 36)
        let scene = try BroadcastScene(source: Self.pictures(secret))
        func start(_ source: String, _ sound: String) throws -> RunningProgram {
          try RunningProgram(
            "framebus",
            [
              "--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast", "start",
              BroadcastScene.extensionID, "--yes", "--source", source, "--app-source", sound,
            ])
        }
        let (source, sound) = (Self.pictures(secret), Self.sound(secret))
        func refusal(_ source: String, _ sound: String) throws -> String {
          let result = try start(source, sound).finish()
          #expect(result.status == .exited(1), "\(result.errors)")
          return result.errors
        }
        let first = try start(source, sound)
        try first.waitForErrors("live")
        func expectSecretIsAbsent() throws {
          let found = try run("grep", ["-r", "-l", "-a", secret, scene.root.path])
          #expect(found.status == .exited(1), "\(found.output)")
        }
        try expectSecretIsAbsent()
        let status = try scene.controller.status
        #expect(status.source == "gst:videotestsrc …")
        #expect(status.options["app-source"] == "gst:audiotestsrc …")
        let joined = try start(source, sound)
        try joined.waitForErrors("following it")
        #expect(try joined.end(with: Signal.interrupt).status == .exited(130))
        func expectRefusals() throws {
          let other = try refusal(Self.pictures("other"), sound)
          #expect(other.contains("of gst:videotestsrc … to"), "\(other)")
          let louder = try refusal(source, Self.sound("other"))
          #expect(louder.contains("app-source is gst:audiotestsrc …, not gst"), "\(louder)")
        }
        try expectRefusals()
        _ = try first.end(with: Signal.kill)
        try expectRefusals()
        let next = try start(source, sound)
        try next.waitForErrors("taking over")
        try expectSecretIsAbsent()
        #expect(try next.end(with: Signal.interrupt).status == .exited(130))
      }
    }
  #endif
}
