import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import Broadcast

/// Extensions' manifests and their registry.
@Suite struct ManifestTests {
  private let whole = """
    version = 1
    id = "dev.example.uploader"
    executable = "/opt/uploader"
    arguments = ["a b", "\\"quoted\\""]
    samples = ["audio-app", "video"]
    credentials = ["whip.example.com/studio"]
    memory-limit-mb = 50

    [format]
    width = 1280
    height = 720
    fps = 30
    """

  @Test func manifestRoundTrips() throws {
    let manifest = try ExtensionManifest(parsing: Array(whole.utf8))
    #expect(manifest.samples == [.video, .audioApp])
    #expect(manifest.memoryLimitBytes == 50 << 20)
    #expect(manifest.format == .init(width: 1280, height: 720, framesPerSecond: 30))
    #expect(try ExtensionManifest(parsing: Array(manifest.text.utf8)) == manifest)
  }

  @Test(arguments: [
    ("version = 1", "version = 2", 1, "version 2"),
    ("version = 1", "", 1, "version is missing"),
    ("id = \"dev.example.uploader\"", "id = \"../x\"", 2, "an id has"),
    ("\"/opt/uploader\"", "\"bin/uploader\"", 3, "an absolute path"),
    ("executable", "program", 3, "unknown key program"),
    ("[\"a b\"", "[7", 4, "not a list of strings"),
    ("\"audio-app\"", "\"smell\"", 5, "smell is not a kind of samples"),
    ("[\"audio-app\", \"video\"]", "[]", 5, "list of samples is empty"),
    ("whip.example.com/studio", "whip", 6, "SERVICE/ACCOUNT"),
    ("= 50", "= 0", 7, "not a whole number from 1"),
    ("width = 1280", "width = 70000", 10, "not a whole number"),
    ("height = 720", "", 10, "both width and height"),
    ("[format]", "[format", 9, "there is no ]"),
  ])
  func malformedManifestIsRefusedWithLineAndReason(
    _ old: String, _ new: String, _ line: Int, _ reason: String
  ) throws {
    let text = whole.replacing(old, with: new, maxReplacements: 1)
    do {
      _ = try ExtensionManifest(parsing: Array(text.utf8))
      Issue.record("the manifest was accepted")
    } catch {
      #expect(error.line == line)
      #expect(error.reason.contains(reason), "\(error.reason)")
    }
  }

  private func setMode(_ mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func onlyManifestsOfOwnerAreRun() throws {
    let scene = try BroadcastScene()
    let registry = ExtensionRegistry(scene.group)
    let folder = scene.group.containerPath + "/extensions"
    let path = folder + "/\(BroadcastScene.extensionID).toml"
    #expect(
      throws: BroadcastError.unknownExtension("other", known: [BroadcastScene.extensionID])
    ) { try scene.controller.start(BroadcastRequest(extensionID: "other", source: "test")) }
    for (file, mode, usual) in [(path, 0o664, 0o600), (folder, 0o770, 0o700)] {
      try setMode(mode, of: file)
      #expect(throws: BroadcastError.self) { try registry.manifest(of: BroadcastScene.extensionID) }
      try setMode(usual, of: file)
    }
    #expect(try registry.manifest(of: BroadcastScene.extensionID).samples == [.video])
    try FileManager.default.linkItem(atPath: path, toPath: scene.root.file("other-name"))
    #expect(throws: BroadcastError.self) { try registry.manifest(of: BroadcastScene.extensionID) }
    try FileManager.default.removeItem(atPath: scene.root.file("other-name"))
    try "version = 1\nid = 3\n".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(
      throws: BroadcastError.brokenManifest(path: path, line: 2, reason: "id is not a string")
    ) { try scene.start() }
    try registry.remove(BroadcastScene.extensionID)
    #expect(try registry.list().isEmpty)
  }
}
