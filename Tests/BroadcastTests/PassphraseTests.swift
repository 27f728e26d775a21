import Foundation
import Platform
import TestSupport
import Testing

/// A host asks once for the passphrase of its key, however often the extension starts.
@Suite struct PassphraseTests {
  private let root: TemporaryRoot
  private var location: [String] { ["--root", root.path, "--group", "a.b"] }
  private static let start = [
    "broadcast", "start", "up", "--yes", "--source", "test:gradient", "--size", "64x48",
  ]

  init() throws {
    root = try TemporaryRoot()
    #expect(try run("framebus", ["group", "create", "a.b", "--root", root.path]).status.isSuccess)
    let added = try run(
      "sh",
      [
        "-c", "echo token-1 | \"$@\" --passphrase-fd 5 5<<E\nhorse\nE", "sh",
        try pathOfProgram("framebus"), "credential", "add", "live", "studio",
      ] + location)
    #expect(added.status.isSuccess, "\(added.errors)")
    let register = ["extension", "register", "--builtin", "null", "--id", "up"]
    #expect(
      try run("framebus", location + register + ["--credential", "live/studio"]).status.isSuccess)
  }

  private func status() throws -> [String: Any] {
    let result = try run("framebus", location + ["broadcast", "status", "--json"])
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any], "\(result.errors)")
  }

  private func waitUntilLive(_ host: RunningProgram, attempt: Int = 1) throws {
    try waitUntil("it is live: \(host.transcript)") {
      let status = try status()
      return status["phase"] as? String == "live" && status["attempt"] as? Int == attempt
    }
  }

  @Test func missingPassphraseRefusesStartWithRemedy() throws {
    let result = try run("framebus", location + Self.start)
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("error: the key of the role host is locked"))
    #expect(result.errors.contains("--passphrase-fd"), "\(result.errors)")
    #expect(try status()["phase"] as? String == "idle")
  }

  @Test func passphraseIsReadFromDescriptorOnceForAllStarts() throws {
    try withWatchdog {
      let pipe = try OneWayPipe()
      try writeFully(Array("horse\n".utf8), to: pipe.writeEnd.number)
      let input = try pipe.readEnd.duplicate()
      _ = pipe.takeWriteEnd()
      let host = try RunningProgram(
        "framebus", location + Self.start + ["--passphrase-fd", "3"], inherited: [input.number])
      try waitUntilLive(host)
      let roles = try #require(try status()["roles"] as? [String: [String: Any]])
      let pid = try #require(roles["extension"]?["pid"] as? Int)
      #expect(kill(Int32(pid), SIGKILL) == 0)
      try waitUntilLive(host, attempt: 2)
      #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
    }
  }

  @Test func passphraseIsReadFromTerminal() throws {
    try withWatchdog {
      let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Tools/type_answer.py").path
      let host = try RunningProgram(
        "/usr/bin/python3",
        [script, "Passphrase of the role host: ", "horse", "--", try pathOfProgram("framebus")]
          + location + Self.start)
      try waitUntilLive(host)
      #expect(try run("framebus", location + ["broadcast", "stop"]).status.isSuccess)
      let result = try host.finish()
      #expect(result.status == .exited(0), "\(result.output)\(result.errors)")
      #expect(!result.output.contains("horse"))
    }
  }
}
