import AppGroup
import Capture
import Foundation
import Platform
import SharedLog
import TestSupport
import Testing

@testable import Broadcast

/// Extensions' manifests and their registry.
@Suite struct ManifestTests {
  /// Its sandbox has the graphics cards, which others lack.
  @Test(arguments: [
    (["--encoder=va"], true), (["--encoder", "va-h265"], true), (["--encoder=vaapi"], true),
    ([], false), (["--encoder=auto"], false), (["--encoder=h264"], false),
    (["--encoder=x264:fast"], false), (["--encoder"], false), (["va"], false),
  ])
  func encoderOfAGraphicsCardIsNamedByItsUser(options: [String], isNamed: Bool) throws {
    var manifest = try ExtensionManifest.builtin(id: "up", destination: "null", options: options)
    #expect(manifest.namesGraphicsEncoder == isNamed)
    #expect(try hasGraphicsCards(manifest) == isNamed)
    // Arguments of another program may mean anything.
    manifest = try ExtensionManifest(
      parsing: Array("version = 1\nid = \"up\"\nexecutable = \"/opt/up\"\n".utf8))
    manifest.arguments = options
    #expect(!manifest.namesGraphicsEncoder)
  }

  private func hasGraphicsCards(_ manifest: ExtensionManifest) throws -> Bool {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID("group.dev.example.cards"), root: root.path)
    let starter = RoleStarter(
      group, SessionID(), BroadcastRequest(extensionID: manifest.id, source: "test"), manifest,
      try SharedLog.open(group, role: .host))
    return starter.confinement(of: manifest, as: nil).grants.contains {
      $0.path == "/sys/class/drm"
    }
  }

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

    [capture]
    protect = ["keepassxc", "0x2a00007"]
    orientation = 6
    cursor = false
    backend = "socket"
    force = true
    silence = 7
    while-saver = "capture"
    secret = "srt/studio"
    """

  @Test func manifestRoundTrips() throws {
    let manifest = try ExtensionManifest(parsing: Array(whole.utf8))
    #expect(manifest.samples == [.video, .audioApp])
    #expect(manifest.memoryLimitBytes == 50 << 20)
    #expect(manifest.format == .init(width: 1280, height: 720, framesPerSecond: 30))
    let rules = [try WindowRule("keepassxc"), try WindowRule("0x2a00007")]
    #expect(manifest.capture.protection == .on(rules))
    #expect(manifest.capture.orientation == .right && manifest.capture.drawsCursor == false)
    #expect(manifest.capture.backend == .socket && manifest.capture.allowsWayland == true)
    #expect(manifest.capture.silenceLimit == 7 && manifest.capture.whileSaver == .capture)
    #expect(manifest.capture.isIsolated == nil && manifest.capture.secret == "srt/studio")
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
    ("protect = [", "protect = false #", 15, "protect is not a list of strings"),
    ("0x2a00007", "0xyz", 15, "use a program's name or a window's ID"),
    ("orientation = 6", "orientation = 9", 16, "orientation 9: use 1 to 8"),
    ("cursor = false", "cursor = 0", 17, "cursor is not true or false"),
    ("backend = \"socket\"", "backend = \"mail\"", 18, "backend mail: use auto, shm or socket"),
    ("force = true", "no-protect = true", 19, "unknown key no-protect in [capture]"),
    ("silence = 7", "silence = -1", 20, "silence is not a whole number from 0"),
    ("srt/studio", "cam", 22, "secret cam: use a credential as SERVICE/ACCOUNT"),
    ("silence = 7", "isolate = true", 18, "the socket backend shares no memory anyway"),
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

  @Test func preferenceThatCannotActIsRefusedAtRegistration() throws {
    let scene = try BroadcastScene()
    let preference = "[capture]\nsilence = 5"
    #expect(
      throws: BroadcastError.unusedPreference("silence", why: "the extension requests no sound")
    ) { try scene.register([], manifest: preference) }
    try scene.register([], samples: [.video, .audioApp], manifest: preference)
  }

  /// A malformed value of each key that the page lists.
  private static let malformed = [
    "version": "version = 2", "id": #"id = "../x""#, "executable": #"executable = "bin/uploader""#,
    "display-name": #"display-name = "a\tb""#, "icon": #"icon = "icon.png""#,
    "arguments": "arguments = [\(Array(repeating: "\"x\"", count: 65).joined(separator: ","))]",
    "samples": #"samples = ["smell"]"#, "credentials": #"credentials = ["whip"]"#,
    "memory-limit-mb": "memory-limit-mb = 0", "reads": #"reads = ["lib"]"#,
    "writes": #"writes = ["out"]"#, "format": "format = 7",
    "format.width": "[format]\nwidth = 1280", "format.height": "[format]\nheight = 720",
    "format.fps": "[format]\nfps = 1001", "application": #"application = ["bin/open"]"#,
    "capture": "capture = 7", "capture.protect": "[capture]\nprotect = 7",
    "capture.orientation": "[capture]\norientation = 9",
    "capture.cursor": "[capture]\ncursor = 0", "capture.isolate": "[capture]\nisolate = 0",
    "capture.force": "[capture]\nforce = 0", "capture.backend": "[capture]\nbackend = \"mail\"",
    "capture.silence": "[capture]\nsilence = -1",
    "capture.while-saver": "[capture]\nwhile-saver = \"never\"",
    "capture.secret": "[capture]\nsecret = \"cam\"",
  ]

  @Test func pageListsEachKeyWithItsError() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "docs/design/extension-manifest.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").drop { $0 != "## Keys" }
      .prefix { $0 != "## NSExtension" }.filter { $0.hasPrefix("| `") }
    var listed: [String] = []
    for row in rows {
      let cells = row.split(separator: "|")
      let keys = cells[0].split(separator: "`").filter { $0.contains(where: \.isLetter) }
      listed += keys.map(String.init)
      for key in keys.map(String.init) {
        let line = try #require(Self.malformed[key], "\(key)")
        let required = ["version = 1", #"id = "a""#, #"executable = "a""#]
          .filter { !$0.hasPrefix("\(key) ") }
        let text = (required + [line]).joined(separator: "\n")
        let error = #expect(throws: ExtensionManifestError.self) {
          try ExtensionManifest(parsing: Array(text.utf8))
        }
        #expect(row.contains("“\(error?.reason ?? "")”"), "\(error?.reason ?? "") of \(key)")
      }
    }
    let formatKeys = ExtensionManifest.formatKeys.map { "format.\($0)" }
    let captureKeys = CaptureSettings.manifestKeys.map { "capture.\($0)" }
    #expect(Set(listed) == Set(ExtensionManifest.keys + formatKeys + captureKeys))
    #expect(listed.count == Set(listed).count)
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
