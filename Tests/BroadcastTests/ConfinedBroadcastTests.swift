import AppGroup
import Broadcast
import Foundation
import Platform
import TestSupport
import Testing

/// Both roles are confined by default, and the status reports how.
@Suite struct ConfinedBroadcastTests {
  /// The kernel's seccomp mode: 2 for a process with a filter of system calls.
  private func seccompMode(_ pid: Int32?) throws -> String? {
    let status = try String(contentsOfFile: "/proc/\(try #require(pid))/status", encoding: .utf8)
    return status.split(separator: "\n").first { $0.hasPrefix("Seccomp:") }
      .map { String($0.drop { !$0.isNumber }) }
  }

  @Test func bothRolesAreConfinedAndStatusReportsIt() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      let status = try scene.controller.status
      #expect(Set(status.confinement.keys) == [.capture, .extension])
      for role in [Role.capture, .extension] {
        #expect(status.confinement[role]?.hasPrefix("on") == true, "\(status.confinement)")
        #expect(try seccompMode(status.pids[role]) == "2")
      }
      // Another host that adopts the session can read it too.
      #expect(try BroadcastStatus(of: scene.group, as: .extension).confinement.count == 2)
      #expect(try scene.finish(session) == .finished)
    }
  }

  /// A private root has of its program's directory only what was granted.
  @Test func captureStartsDirectlyAndHasOnlyItsOwnProgram() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let session = try scene.start()
      try scene.waitForTrace(["started 1", "video"])
      let status = try scene.controller.status
      let pid = try #require(status.pids[.capture])
      let program = try pathOfProgram("framebus-capture")
      let line = try Data(contentsOf: URL(filePath: "/proc/\(pid)/cmdline")).split(separator: 0)
      #expect(
        line.map { String(decoding: $0, as: UTF8.self) } == [
          program, "--quiet", "--session=\(session)", "--stream=screen", "--fps=30",
          "--size=64x48", "--", scene.source,
        ])
      if status.confinement[.capture]?.contains("private-root") == false {
        let folder = "/proc/\(pid)/root" + (program as NSString).deletingLastPathComponent
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: folder) == ["framebus-capture"])
      }
      #expect(try scene.finish(session) == .finished)
    }
  }

  @Test func unconfinedRequestLeavesRolesUnconfined() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      var request = scene.request
      request.isConfined = false
      let session = try scene.controller.start(request).session
      try scene.waitForTrace(["started 1", "video"])
      let status = try scene.controller.status
      #expect(status.confinement[.extension] == "off: disabled by request")
      #expect(try seccompMode(status.pids[.extension]) == "0")
      #expect(try scene.finish(session) == .finished)
    }
  }

  /// The needs of a pipeline are unknown.
  @Test func captureWithUnknownNeedsIsUnconfinedAndLogged() throws {
    try withWatchdog {
      let scene = try BroadcastScene(source: "gst:videotestsrc")
      var request = scene.request
      request.restarts = .never
      let session = try scene.controller.start(request).session
      try waitUntil("the capture was started") {
        try scene.controller.status.confinement[.capture] != nil
      }
      let status = try scene.controller.status
      #expect(
        status.confinement[.capture] == "off: the needs of its source are unknown")
      #expect(
        try scene.log().contains { $0.message.hasPrefix("the capture is not confined: ") })
      try? scene.controller.finish()
      _ = try scene.controller.waitForEnding(of: session)
    }
  }

  @Test(arguments: [
    ("file:out.mkv", "out.mkv"), ("hls:live", "live/"), ("png:/srv/a.png", "/srv/a.png"),
  ])
  func builtInUploaderMayWriteItsDestination(
    destination: String, path: String
  ) throws {
    let manifest = try ExtensionManifest.builtin(id: "up", destination: destination)
    let here = FileManager.default.currentDirectoryPath
    let whole = path.hasPrefix("/") ? path : "\(here)/\(path)"
    #expect(manifest.writes == [whole])
    let scheme = destination.prefix { $0 != ":" }
    #expect(manifest.arguments == ["\(scheme):\(whole.hasSuffix("/") ? "\(here)/live" : whole)"])
  }

  @Test func optionsOfDirectoryAreNotPartOfItsPath() throws {
    let manifest = try ExtensionManifest.builtin(id: "up", destination: "hls:/srv/live?small=240")
    #expect(manifest.writes == ["/srv/live/"])
    #expect(manifest.arguments == ["hls:/srv/live?small=240"])
    let odd = try ExtensionManifest.builtin(id: "up", destination: "hls:/srv/a%3Fb?small=240")
    #expect(odd.writes == ["/srv/a?b/"])
    #expect(odd.arguments == ["hls:/srv/a%3Fb?small=240"])
  }

  @Test func builtInUploaderMayWriteNothingForNetworkDestinations() throws {
    for destination in ["null", "whip:https://example.com/live", "srt://example.com:7000"] {
      let manifest = try ExtensionManifest.builtin(id: "up", destination: destination)
      #expect(manifest.writes == [])
      #expect(manifest.arguments == [destination])
    }
  }

  #if Media
    /// It can access only its own file in the directory.
    @Test func confinedUploaderRecordsPlayableFile() throws {
      try withWatchdog {
        let root = try TemporaryRoot()
        let location = ["--root", root.path, "--group", "a.b"]
        #expect(
          try run("framebus", ["group", "create", "a.b", "--root", root.path]).status.isSuccess)
        let folder = try TemporaryRoot()
        let register = try RunningProgram(
          "framebus",
          location + ["extension", "register", "--builtin", "file:out.mkv", "--id", "up"],
          directory: folder.path)
        #expect(try register.finish().status.isSuccess)
        let host = try RunningProgram(
          "framebus",
          location + [
            "broadcast", "start", "up", "--yes", "--source", "test:bars", "--size", "320x180",
          ])
        try waitUntil("the file has pictures: \(host.transcript)") {
          let file = try? FileManager.default.attributesOfItem(atPath: folder.file("out.mkv"))
          return (file?[.size] as? Int ?? 0) > 10_000
        }
        let status = try output(of: "framebus", location + ["broadcast", "status"])
        #expect(status.contains("confined: on"), "\(status)")
        #expect(try host.end(with: Signal.interrupt).status == .exited(130))
        let played = try run("ffprobe", ["-v", "error", folder.file("out.mkv")])
        #expect(played.status.isSuccess && played.errors == "", "\(played.errors)")
      }
    }
    /// The usual location of a user's groups is below their home directory, which a role may search
    /// but not list.
    @Test(.enabled(if: TestUser.canBeCreated, "only root can create a user with a home directory"))
    func rolesFindTheGroupInTheirUsersHomeDirectory() throws {
      try withWatchdog {
        let user = try TestUser()
        let home = try TemporaryRoot()
        try output(of: "chown", [user.name, home.path])
        try output(of: "usermod", ["--home", home.path, user.name])
        let environment = ["HOME": home.path]
        for command in [
          ["group", "create", "group.local.framebus"], ["extension", "register", "--builtin=null"],
        ] {
          let made = try user.run("framebus", command, environment: environment)
          #expect(made.status.isSuccess, "\(made.errors)")
        }
        let start = [
          "broadcast", "start", "framebus.upload", "--source=test", "--size=64x48", "--yes",
        ]
        let host = try user.start("framebus", start, environment: environment)
        try host.waitForErrors("live", within: .seconds(120))
        let status = try user.run("framebus", ["broadcast", "status"], environment: environment)
        #expect(status.output.contains("confined: on"), "\(status.output)")
        #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      }
    }
  #endif

  // MARK: Required

  private func start(_ scene: BroadcastScene, _ options: String...) -> [String] {
    let location = ["--root", scene.root.path, "--group", "\(scene.group.id)"]
    return location + ["broadcast", "start", BroadcastScene.extensionID] + options
  }

  @Test func requiredConfinementRefusesSourceWhoseNeedsAreUnknown() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let options = ["--require-confinement", "--yes", "--source"]
      for source in [
        ["gst:videotestsrc"], ["test", "--app-source", "gst:audiotestsrc"], ["camera"],
        ["camera:Webcam"],
      ] {
        try scene.register([], samples: [.video, .audioApp])
        let result = try run("framebus", start(scene) + options + source)
        #expect(result.status == .exited(1))
        #expect(
          result.errors.contains("capture: the needs of its source are unknown"),
          "\(result.errors)")
        #expect(try scene.controller.status.phase == .idle)
        #expect(scene.trace.isEmpty)
      }
      let usage = try run("framebus", start(scene, "--require-confinement", "--no-confine"))
      #expect(usage.status == .exited(2), "\(usage.errors)")
    }
  }

  /// Whatever this machine has: the terminal says what is weaker, and that is refused if required.
  @Test func startSaysWhatIsWeakerAndRefusesItIfConfinementIsRequired() throws {
    try withWatchdog {
      let scene = try BroadcastScene()
      let host = try RunningProgram("framebus", start(scene, "--source", scene.source))
      try host.waitForErrors("live")
      let status = try scene.controller.status.confinement
      let joined = try run(
        "framebus", start(scene, "--source", scene.source, "--require-confinement"))
      #expect(joined.status == .exited(1))
      #expect(joined.errors.contains("require-confinement is off, not on"), "\(joined.errors)")
      #expect(try host.end(with: Signal.interrupt).status == .exited(130))
      let weak = status.filter { $0.value != "on" }
      for (role, how) in weak {
        #expect(host.errors.text.contains("the \(role) is confined in part: \(how)"))
      }
      let required = try RunningProgram(
        "framebus", start(scene, "--source", scene.source, "--require-confinement"))
      if weak.isEmpty {
        try required.waitForErrors("live")
        #expect(try required.end(with: Signal.interrupt).status == .exited(130))
        return
      }
      #expect(try required.finish().status == .exited(1))
      for (role, how) in weak {
        let missing = how.trimmingPrefix("on, without ").split(separator: ", ")
        #expect(required.errors.text.contains("\(role): \(missing[0]) is off"), "\(how)")
      }
    }
  }
}
