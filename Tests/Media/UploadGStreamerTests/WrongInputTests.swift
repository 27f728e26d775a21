#if Media
  import AppGroup
  import Foundation
  import Platform
  import TestSupport
  import Testing

  /// An upload that cannot work prints the reason on one line, exits with status 1, or 2 for
  /// invalid arguments, and leaves no files.
  @Suite struct WrongInputTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    private func expectFailure(
      _ destination: String, status: Int32 = 1, mentioning text: String,
      environment: [String: String?] = [:],
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let result = try bench.upload(destination, environment: environment).finish()
      #expect(result.status == .exited(status), sourceLocation: sourceLocation)
      #expect(result.errors.contains(text), "\(result.errors)", sourceLocation: sourceLocation)
      #expect(result.errors.split(separator: "\n").count == 1, sourceLocation: sourceLocation)
    }

    @Test func unknownDestinationErrorListsKnownOnes() throws {
      for destination in ["ftp:x", "webrtc:x"] {
        try expectFailure(destination, status: 2, mentioning: "file:PATH.mkv, file:PATH.mp4")
      }
    }

    @Test func addressWithoutHostIsRefused() throws {
      for destination in ["srt:x", "srt://", "rtmp:x", "rtmp:///live", "hls:"] {
        try expectFailure(destination, status: 2, mentioning: "is not a destination")
      }
    }

    @Test func addressThatNoServerCouldUseIsRefused() throws {
      let addresses = [
        "srt://127.0.0.1", "srt://[::1]", "srt://127.0.0.1:0", "srt://127.0.0.1:x",
        "rtmp://127.0.0.1/", "rtmp://127.0.0.1/live", "rtmps://127.0.0.1/live/?a/b",
      ]
      for address in addresses {
        try expectFailure(address, status: 2, mentioning: "is not a destination; write ")
      }
    }

    @Test func unwritablePathIsRefusedBeforeAnyFrame() throws {
      try expectFailure("file:\(bench.file("missing/out.mkv"))", mentioning: "No such file")
      try FileManager.default.createDirectory(
        atPath: bench.file("folder.mkv"), withIntermediateDirectories: false)
      try expectFailure("file:\(bench.file("folder.mkv"))", mentioning: "Is a directory")
      try expectFailure("file:\(bench.file("out.avi"))", status: 2, mentioning: ".mkv or .mp4")
      try expectFailure("file:\(bench.file("out"))", status: 2, mentioning: ".mkv or .mp4")
      try expectFailure("png:\(bench.file("out.jpg"))", status: 2, mentioning: ".png")
    }

    @Test(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
    func directoryOfAnotherUserIsRefused() throws {
      let user = try TestUser()
      let folder = try TemporaryRoot(mode: 0o755)
      let own = try TemporaryRoot()
      try FileManager.default.setAttributes(
        [.ownerAccountID: Int(user.uid)], ofItemAtPath: own.path)
      let result = try user.run(
        "framebus-upload", ["file:\(folder.file("out.mkv"))", "--root", own.path])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("Permission denied"), "\(result.errors)")
    }

    @Test func snapshotCreatesNoGroup() throws {
      let root = try TemporaryRoot()
      let result = try run(
        "framebus-upload", ["png:\(root.file("now.png"))", "--root", root.path],
        environment: ["FRAMEBUS_GROUP": nil])
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("create it with `framebus group create"), "\(result.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
    }

    @Test func existingFileSurvivesFailureBeforeFirstFrame() throws {
      let path = bench.file("out.mkv")
      try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
      let uploader = try bench.upload("file:\(path)")
      try uploader.waitForErrors("waiting for stream")
      try uploader.end(with: SIGINT)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test(
      arguments: [
        ("x264enc", "libgstx264.so", "gstreamer1.0-plugins-ugly"),
        ("matroskamux", "libgstmatroska.so", "gstreamer1.0-plugins-good"),
        ("videoconvert", "libgstvideoconvertscale.so", "gstreamer1.0-plugins-base"),
      ])
    func missingElementIsNamedWithItsPackage(
      element: String, library: String, package: String
    ) throws {
      let plugins = try pluginFolder(without: library)
      try expectFailure(
        "file:\(bench.file("out.mkv"))", mentioning: "no element \(element); install",
        environment: [
          "GST_PLUGIN_SYSTEM_PATH": plugins, "GST_PLUGIN_SYSTEM_PATH_1_0": plugins,
          "GST_REGISTRY": bench.file("registry.bin"),
        ])
      #expect(!FileManager.default.fileExists(atPath: bench.file("out.mkv")))
    }

    /// A directory with links to the installed plugins that a recording needs, except one.
    private func pluginFolder(without library: String) throws -> String {
      let folder = bench.file("plugins")
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false)
      let installed = try output(
        of: "pkg-config", ["--variable=pluginsdir", "gstreamer-1.0"]
      ).trimmingCharacters(in: .whitespacesAndNewlines)
      for name in [
        "libgstcoreelements.so", "libgstapp.so", "libgstvideoconvertscale.so", "libgstx264.so",
        "libgstmatroska.so", "libgstisomp4.so", "libgstvideofilter.so",
      ] where name != library {
        try FileManager.default.createSymbolicLink(
          atPath: folder + "/" + name, withDestinationPath: installed + "/" + name)
      }
      return folder
    }

    @Test(
      .enabled(if: SmallDisk.isPossible, "only root can mount a small disk"),
      arguments: ["mkv", "mp4"])
    func fullDiskEndsRecordingWithPlayableFile(container: String) throws {
      let disk = try SmallDisk(mebibytes: 4)
      let path = disk.path + "/out.\(container)"
      let uploader = try bench.upload("file:\(path)", "--bitrate", "8M")
      let publisher = try bench.publish("live", "NOIS:640x480:2000:20000")
      let result = try uploader.finish()
      #expect(result.status == .exited(1))
      #expect(result.errors.contains("no space left for \(path)"), "\(result.errors)")
      let recording = try Recording(path)
      #expect(recording.levels.count > 10 && recording.isRising)
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).count == 1)
      try publisher.end(with: SIGTERM)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
    func initiallyFullDiskIsRefused() throws {
      let disk = try SmallDisk(mebibytes: 1)
      try expectFailure("file:\(disk.path)/out.mkv", mentioning: "too little space")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
    }
  }

  /// A tmpfs of a few mebibytes, mounted for one test.
  final class SmallDisk: Sendable {
    private let root: TemporaryRoot
    var path: String { root.path }

    static var isPossible: Bool {
      guard currentUserID() == 0, let disk = try? SmallDisk(mebibytes: 1) else { return false }
      return !disk.path.isEmpty
    }

    init(mebibytes: Int) throws {
      root = try TemporaryRoot()
      try output(of: "mount", ["-t", "tmpfs", "-o", "size=\(mebibytes)m", "tmpfs", root.path])
    }

    deinit { _ = try? output(of: "umount", [root.path]) }
  }
#endif
