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

  private let library: LinkedLibrary

  private init() throws {
    library = try LinkedLibrary(plugin: "obs-plugin")
    try library.compile(
      [tool("obs_harness.c")], as: "obs_harness", with: ["libobs"], ["-std=gnu11", "-lX11"])
    try library.compile([tool("quadrants.c")], as: "quadrants", ["-std=gnu11", "-lm"])
  }

  /// OBS's directory for plugins, and this one.
  var directory: String { library.file("lib/obs-plugins") }
  var path: String { directory + "/obs-framebus.so" }
  /// A program that `init` compiled.
  func program(_ name: String) -> String { library.file(name) }
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
    for name in ["FRAMEBUS_HOME", "FRAMEBUS_GROUP"] { environment[name] = .some(nil) }
    driven = try DrivenProgram(
      plugin.program("obs_harness"), [plugin.path, root], environment: environment)
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
  let plugin: OBSPlugin
  let obs: OBSProgram
  private let group: LocalGroup

  init() throws {
    plugin = try OBSPlugin.shared.get()
    group = try LocalGroup()
    obs = try OBSProgram(plugin, root: group.root.path)
  }

  var root: TemporaryRoot { group.root }

  /// Starts a publisher of pictures (quadrants.c).
  func publish(_ pictures: String, as stream: String = "a") throws -> DrivenProgram {
    let program = try DrivenProgram(plugin.program("quadrants"), [root.path, stream])
    try program.write(pictures)
    try program.program.waitForOutput("publishing\n")
    return program
  }

  /// Starts a publisher of a tone.
  func publishTone(as stream: String) throws -> RunningProgram {
    let program = try RunningProgram(
      plugin.program("quadrants"), [root.path, stream, "tone"])
    try program.waitForOutput("publishing\n")
    return program
  }

  /// Runs the command framebus in the group.
  func framebus(_ arguments: String...) throws -> ProgramResult {
    try run("framebus", arguments, environment: group.environment)
  }
}
