import ArgumentParser
import UploadGStreamer

/// `framebus-upload plugins`, which a host runs before it starts roles that cannot do so: GStreamer
/// writes down what it knows of its plugins whenever it starts and finds that out of date.
struct Plugins: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins", abstract: "Look for GStreamer's plugins.", shouldDisplay: false)

  func run() throws {
    #if Media
      try updatePluginRegistry()
    #endif
  }
}
