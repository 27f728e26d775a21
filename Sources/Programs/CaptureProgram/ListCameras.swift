import ArgumentParser
import Capture
import CaptureCamera
import CommandLineSupport
import Platform

/// `framebus cameras`.
struct ListCameras: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cameras", abstract: "List the cameras, with their modes and controls.")

  @OptionGroup var global: GlobalOptions

  func run() throws {
    #if Media
      // The other program lists PipeWire's nodes too.
      if CameraSearch.mayHaveNodes, siblingProgram(named: SourceKind.mediaProgram) != nil {
        try executeProgram(named: SourceKind.mediaProgram, ["cameras"] + arguments)
      }
    #endif
    try global.terminal.list(CameraSearch.all().map(CameraReport.init), asJSON: global.json)
  }
}

extension Terminal {
  func list(_ cameras: [CameraReport], asJSON: Bool) throws {
    if asJSON { return try printJSON(cameras) }
    if cameras.isEmpty { return report("\(CameraError.noCamera)") }
    for line in cameras.flatMap(\.lines) { try print(line) }
  }
}
