import ArgumentParser
import UploadGStreamer

/// `framebus-upload plugins`, which a host runs before it starts sandboxed roles, which cannot
/// write the registry: GStreamer updates an outdated plugin registry when it starts.
struct Plugins: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins", abstract: "Update GStreamer's plugin registry.", shouldDisplay: false)

  func run() throws {
    #if Media
      try updatePluginRegistry()
    #endif
  }
}
