import ArgumentParser
import Capture
import CaptureGStreamer
import CommandLineSupport
import FrameBus
import GStreamerLog

/// The program `framebus-capture-gstreamer`: one source that GStreamer decodes, in a process of
/// its own. It refuses to encode or send anything.
@main struct CaptureGStreamerProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-capture-gstreamer",
    abstract: "Publish frames of a video file or of a GStreamer pipeline.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  static func main() { runProgram(CaptureGStreamerProgram.self) }

  func run() throws {
    let specification = try capture.specification()
    guard specification.needsGStreamer else {
      try RoleProgram("framebus-capture").run(global.arguments + capture.arguments)
    }
    #if Media
      let role = try CaptureRole(capture, global)
      GStreamerLog.begin(minimumLevel: ProductLog.minimumLevel) { line in
        ProductLog.append(
          line.level, "\(line.category): \(line.text)", label: "gstreamer", source: line.source,
          line: line.sourceLine)
      }
      switch specification {
      case .file(let path): try role.run(PipelineSource(file: path, rate: try capture.rate()))
      case .pipeline(let text):
        try role.run(PipelineSource(pipeline: text, rate: try capture.rate()))
      case .screen, .test, .y4m: break
      }
    #else
      throw NoMedia(source: capture.source)
    #endif
  }
}
