import Foundation
import Platform
import TestSupport
import Testing

/// Wrong input: one clear line, status 1 or, for misuse, 2, and nothing left behind.
@Suite(.serialized) struct WrongInputTests {
  /// The arguments, and words that the error must contain: what happened, and what to do.
  static let failures: [(arguments: [String], says: [String])] = [
    (
      ["streams", "--group=org.example.unknown"], ["org.example.unknown", "framebus group create"]
    ),
    (["capture", "test", "--group=org.example.unknown"], ["org.example.unknown", "create"]),
    (["capture", "screen:93"], [":93"]),
    (["capture", "file:/nowhere/film.mkv"], ["/nowhere/film.mkv"]),
    (["capture", "y4m:/nowhere/film.y4m"], ["/nowhere/film.y4m"]),
    (["upload", "file:/nowhere/out.mkv"], ["/nowhere"]),
    (["upload", "file:/proc/out.mkv"], ["/proc"]),
    (["snapshot", "screen", "/nowhere/now.png"], ["/nowhere"]),
  ]

  static let misuses: [(arguments: [String], says: [String])] = [
    (["capture", "sreen:0"], ["sreen", "screen"]),
    (["upload", "file:out.avi"], ["mkv", "mp4"]),
    (["upload", "file:out.mkv", "--encoder", "foo"], ["foo", "x264"]),
    (["upload", "file:out.mkv", "--encoder", "x264:nope"], ["nope", "ultrafast"]),
    (["upload", "carrier-pigeon:home"], ["carrier-pigeon"]),
    (["upload", "whip:http://192.0.2.1/x"], ["https"]),
    (["snapshot", "screen", "now.jpg"], ["now.jpg", ".png"]),
  ]

  @Test(arguments: failures.indices)
  func failureIsReportedInOneClearLine(_ index: Int) throws {
    try expect(Self.failures[index].arguments, status: 1, says: Self.failures[index].says)
  }

  @Test(arguments: misuses.indices)
  func misuseIsReportedInOneClearLine(_ index: Int) throws {
    try expect(Self.misuses[index].arguments, status: 2, says: Self.misuses[index].says)
  }

  private func expect(_ arguments: [String], status: Int32, says: [String]) throws {
    let scene = try Scene()
    let result = try scene.start(
      arguments, environment: ["DISPLAY": nil, "WAYLAND_DISPLAY": nil]
    ).finish()
    #expect(result.status == .exited(status), "\(arguments): \(result.output)\(result.errors)")
    #expect(result.output == "")
    // A slow machine also sees a line of progress.
    let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
    #expect(lines.count == 1, "\(arguments): \(result.errors)")
    for word in says { #expect(result.errors.contains(word), "\(word) in \(result.errors)") }
    #expect(try scene.stream() == nil)
  }

  @Test func secondPublisherLearnsTheFirst() throws {
    let scene = try Scene()
    let first = try scene.start("capture", "test")
    _ = try scene.waitForStream("the first is there") { _ in true }
    let second = try scene.run("capture", "test")
    #expect(second.status == .exited(1))
    #expect(second.errors.contains("already has a publisher"))
    #expect(try scene.stream()?.publisher.pid == first.processID)
  }

  @Test func missingElementIsNamedWithItsPackage() throws {
    let scene = try Scene()
    let capture = try scene.start("capture", "test")
    let empty = scene.file("no-plugins")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
    let upload = try scene.run(
      "upload", "file:\(scene.file("out.mkv"))",
      environment: [
        "GST_PLUGIN_SYSTEM_PATH_1_0": empty, "GST_PLUGIN_PATH_1_0": empty,
        "GST_REGISTRY_1_0": scene.file("registry.bin"),
      ])
    #expect(upload.status == .exited(1))
    #expect(upload.errors.contains("gstreamer1.0-"), "\(upload.errors)")
    #expect(!FileManager.default.fileExists(atPath: scene.file("out.mkv")))
    withExtendedLifetime(capture) {}
  }
}
