import Foundation
import Platform
import TestSupport
import Testing

/// `framebus broadcast …` and `framebus extension …` as a user runs them.
@Suite struct BroadcastCLITests {
  private let root: TemporaryRoot

  init() throws {
    root = try TemporaryRoot()
    #expect(try framebus("group", "create", "a.b").status.isSuccess)
  }

  private func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", ["--root", root.path, "--group", "a.b"] + arguments)
  }

  private func status() throws -> [String: Any] {
    let result = try framebus("broadcast", "status", "--json")
    let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require(object as? [String: Any])
  }

  private func phase() throws -> String? { try status()["phase"] as? String }

  /// The host of a live broadcast.
  private func liveHost(_ identifier: String, _ options: String...) throws -> RunningProgram {
    let host = try RunningProgram(
      "framebus",
      ["--root", root.path, "--group", "a.b", "broadcast", "start", identifier, "--yes"]
        + ["--source", "test:gradient", "--size", "64x48"] + options)
    try waitUntil("it is live: \(host.transcript)") { try phase() == "live" }
    return host
  }

  @Test func builtInUploaderRunsAsExtensionFromStartToStop() throws {
    try withWatchdog {
      let registered = try framebus("extension", "register", "--builtin", "null", "--id", "up")
      #expect(registered.errors.hasPrefix("registered up; start it with"))
      #expect(try framebus("extension", "list").output == "up  framebus-upload null\n")
      let host = try liveHost("up", "--json")
      let roles = try #require(try status()["roles"] as? [String: [String: Any]])
      #expect(roles["host"]?["pid"] as? Int == Int(host.processID))
      #expect(roles["capture"]?["state"] as? String == "running")
      #expect(try framebus("broadcast", "pause").status.isSuccess)
      try waitUntil("it is paused") { try phase() == "paused" }
      #expect(try status()["reason"] as? String == "requested")
      #expect(try framebus("broadcast", "resume").status.isSuccess)
      try waitUntil("it is live again") { try phase() == "live" }
      let stopped = try framebus("broadcast", "stop")
      #expect(stopped.errors.contains(" finished"))
      let result = try host.finish()
      #expect(result.status == .exited(0), "\(result.errors)")
      #expect(result.output.contains("\"kind\":\"finished\""))
      #expect(try phase() == "finished")
      // Confined roles never have it.
      #expect(try !framebus("log").output.contains("io_uring"))
      let first = try framebus("broadcast", "status").output.split(separator: "\n").first
      #expect(first?.hasSuffix(" finished") == true && first?.contains(",") == false)
    }
  }

  @Test func verbsThatChangeBroadcastPrintItsStateAsJSON() throws {
    try withWatchdog {
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let host = try liveHost("framebus.upload")
      func object(_ arguments: String...) throws -> [String: Any] {
        let global = ["--root", root.path, "--group", "a.b", "--json", "broadcast"]
        let result = try run("framebus", global + arguments)
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require(object as? [String: Any], "\(result.output)")
      }
      let session = try #require(try status()["session"] as? String)
      let paused = try object("pause")
      #expect(paused["session"] as? String == session)
      #expect(paused["requested"] as? String == "pause")
      try waitUntil("it is paused") { try phase() == "paused" }
      #expect(try object("annotate", "org.example")["application"] as? String == "org.example")
      #expect(try object("resume")["requested"] as? String == "run")
      let stopped = try object("stop")
      #expect(stopped["session"] as? String == session)
      #expect(stopped["ending"] as? [String: String] == ["kind": "finished"])
      #expect(try status()["requested"] == nil)
      _ = try host.finish()
    }
  }

  @Test func annotatedApplicationIsShownWithTheStream() throws {
    try withWatchdog {
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let host = try liveHost("framebus.upload")
      #expect(try !framebus("streams").output.contains("  in front "))
      let name = "org.example.editor"
      #expect(try framebus("broadcast", "annotate", name).status.isSuccess)
      try waitUntil("the extension has it") {
        try status()["application"] as? String == name
      }
      // The capture annotates its stream.
      try waitUntil("the stream has it") {
        try framebus("streams").output.contains("  in front \(name)")
      }
      let streams = try framebus("streams", "--json").output
      #expect(streams.contains(#""application" : "\#(name)""#), "\(streams)")
      let top = try framebus("top", "--count=1", "--interval=0.1").output
      #expect(top.contains("  in front \(name)"), "\(top)")
      let record = try framebus("top", "--count=1", "--interval=0.1", "--json").output
      #expect(record.contains(#""application":"\#(name)""#), "\(record)")
      _ = try host.end(with: Signal.interrupt)
    }
  }

  @Test func ctrlCFinishesExtension() throws {
    try withWatchdog {
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let host = try liveHost("framebus.upload")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
      let ending = try #require(try status()["ending"] as? [String: Any])
      #expect(ending["kind"] as? String == "finished")
    }
  }

  /// As sent by timeout(1), or by a terminal that closes: the host still stops the roles in order.
  @Test func twoSimultaneousSignalsAreOneRequestToFinish() throws {
    try withWatchdog {
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let host = try liveHost("framebus.upload")
      host.process.send(signal: Signal.terminate)
      #expect(try host.end(with: SIGHUP).status == .exited(0), "\(host.transcript)")
      let report = try status()
      let ending = try #require(report["ending"] as? [String: Any])
      #expect(ending["kind"] as? String == "finished")
      let roles = try #require(report["roles"] as? [String: [String: Any]])
      #expect(roles["capture"]?["state"] as? String == "none", "\(roles)")
    }
  }

  @Test func tooLongSourceIsUsageError() throws {
    #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
    let source = "file:/" + String(repeating: "x", count: 600)
    let result = try framebus("broadcast", "start", "framebus.upload", "--source", source)
    #expect(result.status == .exited(2))
    #expect(result.errors.contains("--source: use at most 512 bytes"), "\(result.errors)")
  }

  @Test(arguments: [
    ["--source", "test", "--fps", "0"], ["--source", "test", "--size", "0x0"],
    ["--source", "bogus"], ["--source", "test", "--mic-source", "bogus"],
  ])
  func invalidCaptureOptionsAreUsageErrorsBeforeStart(options: [String]) throws {
    #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
    let result = try run(
      "framebus",
      ["--root", root.path, "--group", "a.b", "broadcast", "start", "framebus.upload"] + options)
    #expect(result.status == .exited(2))
    let reasons = ["is not a frame rate", "is not a size", "there is no source"]
    #expect(reasons.contains { result.errors.contains($0) }, "\(result.errors)")
    #expect(try phase() == "idle")
  }

  @Test func invalidBuiltInDestinationIsRefusedAndKeepsRegistration() throws {
    #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
    for destination in ["bogus", "ftp:x", "file:", "null:x", ""] {
      let result = try framebus("extension", "register", "--builtin", destination)
      #expect(result.status == .exited(2), "\(destination)")
      #expect(result.errors.contains("it has file:PATH.mkv"), "\(result.errors)")
    }
    #expect(
      try framebus("extension", "list").output == "framebus.upload  framebus-upload null\n")
  }

  @Test func ctrlCAtPickCancelsBroadcast() throws {
    try withWatchdog {
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let input = try OneWayPipe()
      let host = try RunningProgram(
        "framebus", ["--root", root.path, "--group", "a.b", "broadcast", "start"],
        input: .descriptor(input.readEnd.number))
      try host.waitForErrors("Which extension?")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      let ending = try #require(try status()["ending"] as? [String: Any])
      #expect(ending["kind"] as? String == "cancelled")
    }
  }

  @Test func extensionIsPickedByLineOfStandardInput() throws {
    try withWatchdog {
      #expect(
        try framebus("broadcast", "start").errors.hasPrefix("error: the group has no extension"))
      #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
      let input = try OneWayPipe()
      try writeFully(Array("1\n".utf8), to: input.writeEnd.number)
      let host = try RunningProgram(
        "framebus",
        [
          "--root", root.path, "--group", "a.b", "broadcast", "start", "--yes", "--source",
          "test:gradient",
        ]
          + ["--size", "64x48"],
        input: .descriptor(input.readEnd.number))
      try waitUntil("it is live: \(host.transcript)") { try phase() == "live" }
      #expect(try status()["extension"] as? String == "framebus.upload")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
    }
  }

  @Test(arguments: ["", "a\nb", "\u{1b}[31m", String(repeating: "x", count: 256)])
  func malformedApplicationNameIsUsageError(name: String) throws {
    let result = try framebus("broadcast", "annotate", name)
    #expect(result.status == .exited(2))
    #expect(result.errors.hasPrefix("error: an application's name has"), "\(result.errors)")
  }

  @Test func emptyPickCancelsBroadcast() throws {
    #expect(try framebus("extension", "register", "--builtin", "null").status.isSuccess)
    let result = try framebus("broadcast", "start")
    #expect(result.status == .exited(1))
    #expect(result.errors.hasPrefix("1  framebus.upload\nWhich extension?"))
    #expect(result.errors.hasSuffix("cancelled\n"))
    let ending = try #require(try status()["ending"] as? [String: Any])
    #expect(ending["kind"] as? String == "cancelled")
  }

  @Test func failureOfExtensionIsReportedOnce() throws {
    let path = root.file("up.toml")
    // `register --builtin` would refuse it.
    try """
    version = 1
    id = "framebus.upload"
    executable = "framebus-upload"
    arguments = ["file:\(root.path)/none/x.unknown"]
    """.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try framebus("extension", "register", path).status.isSuccess)
    let result = try framebus(
      "broadcast", "start", "framebus.upload", "--yes", "--source", "test:gradient")
    #expect(result.status == .exited(1))
    #expect(result.errors.contains("error: the broadcast failed: framebus.upload 2: "))
    // Reported once.
    #expect(result.errors.components(separatedBy: "framebus.upload 2: ").count == 2)
    #expect(!result.errors.contains("the extension exited"), "\(result.errors)")
  }

  @Test(arguments: ["/none/uploader", "/etc/passwd", "/etc", "no-such-program"])
  func programThatCannotRunIsRefused(executable: String) throws {
    let path = root.file("bad.toml")
    try "version = 1\nid = \"a\"\nexecutable = \"\(executable)\"\n"
      .write(toFile: path, atomically: true, encoding: .utf8)
    let result = try framebus("extension", "register", path)
    #expect(result.status == .exited(1))
    #expect(result.errors.contains(executable) && result.errors.contains("install"))
    #expect(try framebus("extension", "list").output.isEmpty)
  }

  @Test func malformedManifestIsRefusedWithLine() throws {
    let path = root.file("bad.toml")
    try "version = 1\nid = \"a\"\nexecutable = 3\n"
      .write(toFile: path, atomically: true, encoding: .utf8)
    let result = try framebus("extension", "register", path)
    #expect(result.status == .exited(1))
    #expect(
      result.errors == "error: \(path), line 3: executable is not a string; correct the line\n")
    let unknown = try framebus("broadcast", "start", "nobody")
    #expect(unknown.errors.hasPrefix("error: extension nobody is not registered in the group"))
    let none = try framebus("broadcast", "pause")
    #expect(none.errors.hasPrefix("error: no broadcast is active"))
    #expect(try framebus("broadcast", "status").output.hasPrefix("phase"))
  }
}
