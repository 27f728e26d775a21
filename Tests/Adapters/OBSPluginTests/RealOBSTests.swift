import Foundation
import Platform
import TestSupport
import Testing

/// OBS Studio as a user starts it, with the plugin as its source and its script as its output.
@Suite struct RealOBSTests {
  private static let isInstalled = programInPath(named: "obs") != nil && OBSPlugin.canBeBuilt

  @Test(
    .enabled(if: isInstalled, "OBS is missing: scripts/setup --test, or apt install obs-studio"))
  func itPublishesWhatItReceives() throws {
    let plugin = try OBSPlugin.shared.get()
    let root = try LocalGroup().root
    try configure(root)
    let publisher = try DrivenProgram(plugin.program("quadrants"), [root.path, "a"])
    try publisher.write("XR24 320 240 RGBW")
    let screen = try VirtualScreen()
    var environment = screen.environment
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] { environment[name] = root.path }
    environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
    environment["OBS_PLUGINS_PATH"] = plugin.directory
    environment["OBS_PLUGINS_DATA_PATH"] = root.path
    let obs = try RunningProgram(
      "obs", ["--multi", "--disable-updater"], environment: environment)
    // NV12 by BT.709: the luma of red, green, blue and white.
    try waitUntil("it publishes the four colours: \(obs.transcript)") {
      let player = try RunningProgram(
        "framebus", ["play", "obs", "--raw", "--frames", "1", "--root", root.path])
      let bytes = try player.finish().status.isSuccess ? player.output.bytes : []
      guard bytes.count == 115_200 else { return false }
      let seen = [20 * 320 + 20, 20 * 320 + 300, 200 * 320 + 20, 200 * 320 + 300]
      return zip(seen.map { Int(bytes[$0]) }, [63, 173, 32, 235]).allSatisfy { abs($0 - $1) <= 3 }
    }
    _ = try obs.end(with: SIGTERM)
  }

  /// Writes the files of a user who has a scene with the source, and the script switched on.
  private func configure(_ root: TemporaryRoot) throws {
    let script = URL(fileURLWithPath: tool("../../Sources/Adapters/OBSPlugin/framebus-output.lua"))
      .standardizedFileURL.path
    let files = [
      "global.ini": """
      [General]
      FirstRun=true
      LastVersion=486539264
      [Basic]
      Profile=Test
      ProfileDir=Test
      SceneCollection=Test
      SceneCollectionFile=Test

      """,
      "basic/profiles/Test/basic.ini": """
      [General]
      Name=Test
      [Video]
      BaseCX=320
      BaseCY=240
      OutputCX=320
      OutputCY=240

      """,
      "basic/scenes/Test.json": """
      {"name": "Test", "current_scene": "Scene", "current_program_scene": "Scene",
      "scene_order": [{"name": "Scene"}], "sources": [
      {"id": "framebus_source", "versioned_id": "framebus_source", "name": "in",
      "settings": {"stream": "a", "root": "\(root.path)"}},
      {"id": "scene", "versioned_id": "scene", "name": "Scene", "settings": {"id_counter": 1,
      "items": [{"name": "in", "id": 1, "visible": true, "scale": {"x": 1, "y": 1}}]}}],
      "modules": {"scripts-tool": [{"path": "\(script)",
      "settings": {"on": true, "stream": "obs", "root": "\(root.path)"}}]}}
      """,
    ]
    for (name, text) in files {
      let path = root.file("obs-studio/" + name)
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
  }
}
