import Foundation
import TestSupport

/// The plugin, over the library of this build, and the program that drives it. Made once.
final class Plugin: Sendable {
  static let shared = Result { try Plugin() }

  private let library: LinkedLibrary

  private init() throws {
    library = try LinkedLibrary(plugin: "gstreamer-plugin")
    try library.compile(
      [tool("plugin_harness.c"), tool("plugin_queries.c")], as: "harness",
      with: ["gstreamer-check-1.0", "gstreamer-base-1.0", "gstreamer-video-1.0", "framebus"], [])
  }

  var harness: String { library.file("harness") }

  /// The variables with which a program of GStreamer's finds the plugin.
  var environment: [String: String?] {
    [
      "GST_PLUGIN_PATH": library.file("lib/gstreamer-1.0"),
      "GST_REGISTRY": library.file("registry"),
    ]
  }
}

/// A group, and pipelines in it.
final class PluginScene: Sendable {
  let plugin: Plugin
  private let group: LocalGroup

  init() throws {
    plugin = try Plugin.shared.get()
    group = try LocalGroup()
  }

  func file(_ name: String) -> String { group.file(name) }

  private func environment(_ changes: [String: String?]) -> [String: String?] {
    plugin.environment.merging(group.environment) { $1 }.merging(changes) { $1 }
  }

  /// Starts `gst-launch-1.0` with a pipeline.
  func launch(_ pipeline: String, with changes: [String: String?] = [:]) throws -> RunningProgram {
    let words = pipeline.split { $0.isWhitespace }.map(String.init)
    return try RunningProgram(
      "gst-launch-1.0", ["-q"] + words, environment: environment(changes))
  }

  /// Runs a pipeline that must succeed to its end.
  func runPipeline(_ pipeline: String) throws {
    let result = try launch(pipeline).finish()
    guard result.status.isSuccess else {
      throw HarnessError("\(pipeline): \(result.status) \(result.errors)")
    }
  }

  func start(_ arguments: [String], with changes: [String: String?] = [:]) throws -> RunningProgram
  {
    try RunningProgram("framebus", arguments, environment: environment(changes))
  }

  /// Starts `plugin_harness COMMAND ROOT [N]`.
  func harness(_ command: String, _ count: Int = 0, with changes: [String: String?] = [:]) throws
    -> RunningProgram
  {
    try RunningProgram(
      plugin.harness, [command, group.root.path, "\(count)"], environment: environment(changes))
  }

  /// Runs it to its end, and returns the lines that it printed.
  func lines(of command: String, _ count: Int = 0) throws -> [String] {
    let result = try harness(command, count).finish(within: .seconds(300))
    guard result.status.isSuccess else {
      throw HarnessError("\(command): \(result.status) \(result.output) \(result.errors)")
    }
    return result.output.split(separator: "\n").map(String.init)
  }

  func contents(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: file(name)))
  }
}
