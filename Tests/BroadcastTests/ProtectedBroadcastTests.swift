#if Media
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// Windows that ask not to be seen, or that somebody names, are black in what a broadcast sends.
  @Suite struct ProtectedBroadcastTests {
    private let screen: VirtualScreen
    private let scene: BroadcastScene
    private var path: String { scene.root.file("out.mkv") }

    /// Where the windows lie, by their class. Each is 40 by 40 pixels.
    private static let corners = [
      "marked": (10, 10), "option": (70, 10), "setting": (130, 10), "manifest": (190, 10),
    ]
    private static let visible = (250, 10)
    private static let magenta: [UInt8] = [255, 0, 255]

    init() throws {
      screen = try VirtualScreen(width: 320, height: 80)
      scene = try BroadcastScene()
      try framebus(
        "defaults", "write", "\(scene.group.id)", "protectedWindows", "--type", "json",
        #"["setting"]"#)
      try Data(
        """
        version = 1
        id = "up"
        executable = "framebus-upload"
        arguments = ["file:\(path)"]
        writes = ["\(path)"]

        [capture]
        protect = ["manifest"]
        cursor = false
        """.utf8
      ).write(to: URL(filePath: scene.root.file("up.toml")))
      try framebus("extension", "register", scene.root.file("up.toml"))
    }

    private var location: [String] {
      ["--root", scene.root.path, "--group", "\(scene.group.id)"]
    }

    private func framebus(_ arguments: String...) throws {
      try output(of: "framebus", location + arguments)
    }

    /// Shows the windows. A window manager places them elsewhere, and adds a title.
    private func windows() throws -> [ShownWindow] {
      func show(_ name: String, at corner: (Int, Int), color: String) throws -> ShownWindow {
        let place = "40x40+\(corner.0)+\(corner.1)"
        let window = try ShownWindow(name, place, color: color, on: screen)
        try window.perform("move \(corner.0) \(corner.1)")
        return window
      }
      let hidden = try Self.corners.map { try show($0, at: $1, color: "ff00ff") }
      for window in hidden where window.name == "marked" { try window.perform("mark") }
      return hidden + [try show("seen", at: Self.visible, color: "00ff00")]
    }

    private var start: [String] {
      location + ["broadcast", "start", "up", "--yes", "--source", "screen:\(screen.display)"]
    }

    /// Broadcasts the screen into a file until that has some pictures.
    /// - Returns: the red, green and blue within each window, in every picture. With a title of up
    ///   to 30 pixels a window is as low as that.
    private func colours(_ options: String...) throws -> [[String: [UInt8]]] {
      let host = try RunningProgram("framebus", start + options)
      try waitForPictures(3, of: host)
      #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
      return try pictures()
    }

    private var pictureCount: Int {
      get throws {
        let packets = try run(
          "ffprobe",
          ["-loglevel", "quiet", "-show_entries", "packet=pts", "-of", "csv=p=0", path])
        return packets.output.split(separator: "\n").count
      }
    }

    private func waitForPictures(_ count: Int, of host: RunningProgram) throws {
      try waitUntil("the file has pictures: \(host.transcript)") { try pictureCount >= count }
    }

    /// The red, green and blue within each window, in every picture of the file.
    private func pictures() throws -> [[String: [UInt8]]] {
      let decoder = try RunningProgram(
        "ffmpeg", ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
      #expect(try decoder.finish().status.isSuccess, "\(decoder.errors.text)")
      let bytes = decoder.output.bytes
      let all = Self.corners.merging(["seen": Self.visible]) { $1 }
      return stride(from: 0, to: bytes.count, by: 320 * 80 * 3).map { picture in
        all.mapValues { corner in
          let pixel = picture + ((corner.1 + 35) * 320 + corner.0 + 20) * 3
          return Array(bytes[pixel..<pixel + 3])
        }
      }
    }

    private func isNear(_ one: [UInt8]?, _ other: [UInt8]) -> Bool {
      guard let one else { return false }
      return zip(one, other).allSatisfy { abs(Int($0) - Int($1)) < 40 }
    }

    @Test(arguments: [false, true])
    func markedNamedAndListedWindowsAreBlackInTheFile(isManaged: Bool) throws {
      try withWatchdog {
        let desktop = isManaged ? try Desktop(on: screen) : nil
        let shown = try windows()
        let pictures = try colours("--protect", "option")
        #expect(pictures.count >= 3)
        for picture in pictures {
          #expect(isNear(picture["seen"], [0, 255, 0]), "\(picture)")
          for name in Self.corners.keys {
            #expect(isNear(picture[name], [0, 0, 0]), "\(name): \(picture)")
          }
        }
        withExtendedLifetime((desktop, shown)) {}
      }
    }

    /// Only the user turns protection off: what the setting and the manifest name is shown too.
    @Test func protectionThatIsTurnedOffIsLogged() throws {
      try withWatchdog {
        let shown = try windows()
        let pictures = try colours("--no-protect")
        for name in Self.corners.keys {
          #expect(pictures.allSatisfy { isNear($0[name], Self.magenta) }, "\(name): \(pictures)")
        }
        let log = try output(of: "framebus", location + ["log"])
        #expect(log.contains("protection is off"), "\(log)")
        withExtendedLifetime(shown) {}
      }
    }

    /// More protection, and an earlier end, need no new broadcast.
    @Test func protectionAndEndAreAppliedWhileTheBroadcastRuns() throws {
      try withWatchdog {
        let shown = try windows()
        let host = try RunningProgram("framebus", start + ["--duration", "3600"])
        try waitForPictures(1, of: host)
        for (options, difference) in [
          (["--no-protect"], "protect is marked windows, setting, manifest, not no window"),
          (["--duration", "7200"], "duration is 3600.0 s, not 7200.0 s"),
        ] {
          let refused = try run("framebus", start + ["--apply"] + options)
          #expect(refused.status == .exited(1))
          #expect(refused.errors.contains("need a new one: \(difference)"), "\(refused.errors)")
        }
        let before = try run("framebus", start + ["--protect", "option"])
        #expect(before.errors.contains("or add --apply"), "\(before.errors)")
        let second = try RunningProgram("framebus", start + ["--apply", "--protect", "option"])
        try second.waitForErrors("following it")
        #expect(second.errors.text.contains("changed: protect"), "\(second.transcript)")
        #expect(try second.end(with: Signal.interrupt).status == .exited(130))
        let options = try scene.controller.status.options
        #expect(options["protect"] == "marked windows, setting, manifest, option", "\(options)")
        try waitForPictures(pictureCount + 3, of: host)
        let third = try run("framebus", start + ["--apply", "--duration", "0.1"])
        #expect(third.status == .exited(0), "\(third.errors)")
        #expect(try host.finish().status == .exited(0), "\(host.transcript)")
        let pictures = try pictures()
        #expect(isNear(pictures.first?["option"], Self.magenta), "\(pictures)")
        #expect(isNear(pictures.last?["option"], [0, 0, 0]), "\(pictures)")
        #expect(isNear(pictures.last?["seen"], [0, 255, 0]), "\(pictures)")
        withExtendedLifetime(shown) {}
      }
    }

    /// A pipeline may show windows, and nothing says where.
    @Test func sourceThatCannotBeProtectedSaysSo() throws {
      try withWatchdog {
        let source = "gst:videotestsrc is-live=true ! video/x-raw,width=64,height=48"
        for verb in [["broadcast", "start", "up", "--yes", "--source"], ["capture"]] {
          for source in [source, "test", "y4m:-", "tone"] {
            let result = try run("framebus", location + verb + [source, "--protect", "option"])
            #expect(result.status == .exited(2), "\(result.errors)")
            let kind = source.prefix { $0.isLetter || $0.isNumber }
            let reason = "--protect is impossible for \(kind): only screen and window sources"
            #expect(result.errors.contains(reason), "\(result.errors)")
          }
        }
        let host = try RunningProgram(
          "framebus", location + ["broadcast", "start", "up", "--yes", "--source", source])
        try host.waitForErrors("live")
        let status = try output(of: "framebus", location + ["broadcast", "status"])
        #expect(status.contains(/protect impossible for gst[,\n]/), "\(status)")
        #expect(!status.contains("marked windows"), "\(status)")
        #expect(try host.end(with: Signal.interrupt).status == .exited(130), "\(host.transcript)")
        let log = try output(of: "framebus", location + ["log", "--verbose"])
        #expect(log.contains("impossible for gst, so setting, manifest can be seen"), "\(log)")
        #expect(log.contains("windows of setting, manifest are shown if it shows them"), "\(log)")
      }
    }

    @Test func malformedSettingIsRefusedBeforeTheFirstFrame() throws {
      try framebus("defaults", "write", "\(scene.group.id)", "protectedWindows", "secret")
      for verb in [["broadcast", "start", "up"], ["capture"]] {
        let words = verb + (verb.count == 1 ? [] : ["--source"]) + ["screen:\(screen.display)"]
        let result = try run("framebus", location + words)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("protectedWindows is malformed"), "\(result.errors)")
      }
    }
  }
#endif
