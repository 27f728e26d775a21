import Foundation
import Platform
import Synchronization
import TestSupport

/// The plugin, over the library of this build, and the programs that drive it. Made once.
final class OBSPlugin: Sendable {
  static let shared = Result { try OBSPlugin() }
  static let missing = "libobs is missing: scripts/setup --test, or apt install libobs-dev"

  static var canBeBuilt: Bool {
    (try? run("pkg-config", ["--exists", "libobs"]).status.isSuccess) ?? false
  }

  let root: TemporaryRoot

  private init() throws {
    root = try TemporaryRoot()
    removeAtExit(root.path)
    let scripts = URL(fileURLWithPath: tool("../../scripts")).standardizedFileURL.path
    let build = URL(fileURLWithPath: try pathOfProgram("framebus")).deletingLastPathComponent()
    try output(of: scripts + "/library", [build.path, root.path])
    try output(of: scripts + "/obs-plugin", [root.path])
    try compile("obs_harness", with: ["libobs"], ["-lX11"])
    try compile("quadrants", with: ["framebus"], ["-lm", "-Wl,-rpath," + root.file("lib")])
  }

  var path: String { root.file("lib/obs-plugins/obs-framebus.so") }

  private func compile(_ name: String, with package: [String], _ options: [String]) throws {
    let flags = try run(
      "pkg-config", ["--cflags", "--libs"] + package,
      environment: ["PKG_CONFIG_PATH": root.file("lib/pkgconfig")]
    ).output.split { $0.isWhitespace }.map(String.init)
    try output(
      of: "cc",
      [
        "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o", root.file(name),
        tool(name + ".c"),
      ]
        + flags + options)
  }
}

/// A program that takes lines of standard input.
final class DrivenProgram: Sendable {
  let program: RunningProgram
  private let input: FileHandle

  init(_ path: String, _ arguments: [String], environment: [String: String?] = [:]) throws {
    let pipe = try OneWayPipe()
    program = try RunningProgram(
      path, arguments, environment: environment, input: .descriptor(pipe.readEnd.number))
    let end = pipe.takeWriteEnd()
    input = FileHandle(fileDescriptor: end.release(), closeOnDealloc: true)
  }

  func write(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }
  func closeInput() throws { try input.close() }
}

/// OBS without its window, on a screen of its own, with the plugin.
final class OBSProgram: Sendable {
  let driven: DrivenProgram
  private let screen: VirtualScreen
  private let count = Mutex(0)

  init(_ plugin: OBSPlugin, root: String) throws {
    screen = try VirtualScreen(width: 320, height: 240)
    var environment = screen.environment
    environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
    environment["FRAMEBUS_HOME"] = .some(nil)
    environment["FRAMEBUS_GROUP"] = .some(nil)
    driven = try DrivenProgram(
      plugin.root.file("obs_harness"), [plugin.path, root], environment: environment)
    try driven.program.waitForOutput("ready\n")
  }

  /// Runs a command of obs_harness.c.
  /// - Returns: what it printed.
  @discardableResult
  func `do`(_ command: String) throws -> String {
    let number = count.withLock {
      $0 += 1
      return $0
    }
    let before = driven.program.output.text.utf8.count
    try driven.write(command)
    try driven.program.waitForOutput("done \(number)\n")
    return String(decoding: driven.program.output.bytes.dropFirst(before), as: UTF8.self)
  }

  /// Waits for a line of the plugin's log.
  func waitForLog(_ text: String) throws { try driven.program.waitForOutput(text) }

  /// Ends OBS. Fails if memory of OBS's was not freed.
  func finish() throws {
    try driven.closeInput()
    let result = try driven.program.finish()
    guard result.status.isSuccess, result.output.hasSuffix("\nallocations 0\n") else {
      throw HarnessError("\(result.status)\n\(driven.program.transcript)")
    }
  }
}

/// A group, with OBS in it.
final class OBSScene: Sendable {
  let root: TemporaryRoot
  let plugin: OBSPlugin
  let obs: OBSProgram

  init() throws {
    plugin = try OBSPlugin.shared.get()
    root = try TemporaryRoot()
    try output(of: "framebus", ["group", "create", "group.local.framebus", "--root", root.path])
    obs = try OBSProgram(plugin, root: root.path)
  }

  func file(_ name: String) -> String { root.file(name) }

  /// Starts a publisher of pictures (quadrants.c).
  func publish(_ pictures: String, as stream: String = "a") throws -> DrivenProgram {
    let program = try DrivenProgram(plugin.root.file("quadrants"), [root.path, stream])
    try program.write(pictures)
    try program.program.waitForOutput("publishing\n")
    return program
  }

  /// Starts a publisher of a tone.
  func publishTone(as stream: String) throws -> RunningProgram {
    let program = try RunningProgram(
      plugin.root.file("quadrants"), [root.path, stream, "tone"])
    try program.waitForOutput("publishing\n")
    return program
  }

  /// Runs the command framebus in the group.
  func framebus(_ arguments: String...) throws -> ProgramResult {
    try run(
      "framebus", arguments, environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": nil])
  }
}
