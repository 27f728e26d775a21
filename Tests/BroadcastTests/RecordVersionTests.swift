import Foundation
import Platform
import SharedDefaults
import TestSupport
import Testing

@testable import Broadcast

/// Records that processes of another build wrote: they run on while an upgrade is installed.
@Suite struct RecordVersionTests {
  /// As the first build with `connectionFailure` wrote it, without the kernel's boot ID.
  private static let old = """
    {"session": "89abcdef01234567", "phase": "live", "requested": "run",
     "extension": "dev.example.tracer", "pauses": [], "source": "test:gradient",
     "stream": "screen", "sound": "", "attempt": 1, "application": "",
     "confinement": {"capture": "on"}}
    """

  /// The record that a JSON text describes, for the current boot.
  private func record(_ text: String, of session: SessionID? = nil) throws -> DefaultsValue {
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    guard case .dictionary(var values) = try Self.value(object) else {
      throw HarnessError("\(text) is not an object")
    }
    values["boot"] = .data(bootID())
    if let session { values["session"] = .string(session.text) }
    return .dictionary(values)
  }

  private static func value(_ object: Any) throws -> DefaultsValue {
    switch object {
    case let text as String: .string(text)
    case let number as Int: .integer(number)
    case let list as [Any]: .array(try list.map(value))
    case let values as [String: Any]: .dictionary(try values.mapValues(value))
    default: throw HarnessError("\(object) is not a value of a record")
    }
  }

  @Test func missingFieldsHaveTheirDefaults() throws {
    let record = try #require(BroadcastRecord(try record(Self.old)))
    #expect(record.phase == .live && record.extensionID == "dev.example.tracer")
    #expect(record.options == SessionOptions() && record.resumedAtNs == 0)
    #expect(record.confinement == [.capture: "on"] && record.missingSound.isEmpty)
    #expect(BroadcastRecord(record.value) == record)
    let least = """
      {"session": "89abcdef01234567", "phase": "paused", "extension": "a", "source": "b",
       "stream": "screen"}
      """
    #expect(try BroadcastRecord(self.record(least))?.phase == .paused)
  }

  @Test func whatOnlyALaterBuildKnowsIsIgnored() throws {
    let later = """
      {"session": "89abcdef01234567", "phase": "rehearsing", "extension": "a", "source": "b",
       "stream": "screen", "pauses": [1, 64], "later": {"a": [1]}, "options":
       {"fps": "fast", "restarts": "3", "protect": "a 0xg b", "later": "x", "silence": 7},
       "confinement": {"editor": "on", "host": 7, "extension": "on"},
       "missingSound": {"audio-tv": "no server", "audio-mic": "no device"}}
      """
    let record = try #require(BroadcastRecord(try record(later)))
    #expect(record.phase == .starting && record.pauses == [.requested])
    #expect(record.confinement == [.extension: "on"])
    #expect(record.missingSound == [.audioMic: "no device"])
    #expect(record.options.restartLimit == 3 && record.options.capture.frameRate == nil)
    #expect(record.options.shown["fps"] == "fast")
    #expect(record.options.unread == ["fps": "fast", "protect": "a 0xg b"])
    // For the process of the later build, which reads the record again.
    #expect(BroadcastRecord(record.value) == record)
    guard case .dictionary(let values) = record.value else { return }
    guard case .dictionary(let options)? = values["options"] else { return }
    #expect(options["fps"] == "fast" && options["protect"] == "a 0xg b")
  }

  @Test func runningBroadcastOfAnOlderBuildIsSeenAndStopped() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      try waitUntil("it is live") { try scene.controller.status.phase == .live }
      let session = try #require(try scene.controller.status.session)
      let suite = try SharedDefaults(suiteName: BroadcastNames.suite, in: scene.group)
      try suite.set(record(Self.old, of: session), forKey: BroadcastNames.recordKey)
      let location = ["--root", scene.root.path, "--group", "\(scene.group.id)", "broadcast"]
      let status = try run("framebus", location + ["status", "--json"])
      #expect(status.output.contains("\"phase\" : \"live\""), "\(status.output)")
      #expect(status.output.contains(session.text))
      let stopped = try run("framebus", location + ["stop"])
      #expect(stopped.status.isSuccess && stopped.errors.contains("finished"), "\(stopped.errors)")
      #expect(try host.finish().output.contains("ending finished"), "\(host.transcript)")
    }
  }

  /// The next host would restart the capture without it.
  @Test func hostDoesNotAdoptASessionWhoseProtectionItCannotRead() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try scene.hostProcess()
      try scene.waitForTrace(["started 1", "video"])
      _ = try host.end(with: Signal.kill)
      let board = try SessionBoard(scene.group, as: .host)
      let present = try #require(try board.read())
      guard case .dictionary(var values) = present.value else { return }
      values["options"] = ["protect": "title:~secret 0xnone", "app-source": "pulse:monitor"]
      let suite = try SharedDefaults(suiteName: BroadcastNames.suite, in: scene.group)
      try suite.set(.dictionary(values), forKey: BroadcastNames.recordKey)
      var request = scene.request
      request.soundSources = [.audioApp: "pulse:monitor"]
      let wanted = request
      #expect {
        try scene.controller.start(wanted)
      } throws: { error in
        guard case BroadcastError.otherOptions(present.session, let differences) = error else {
          return false
        }
        return differences.map(\.option) == ["protect"]
      }
      try scene.controller.finish()
      #expect(try scene.controller.waitForEnding(of: present.session) == .finished)
    }
  }
}
