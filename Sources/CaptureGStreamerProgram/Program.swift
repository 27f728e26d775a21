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
    abstract: "Publish a video file, a GStreamer pipeline or the sound of the machine.")

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
      case .file(let path):
        let rate = try capture.rate()
        try role.run(PipelineSource(file: path, rate: rate, sound: try sound(beside: role)))
      case .pipeline(let text):
        try role.run(PipelineSource(pipeline: text, rate: try capture.rate()))
      case .pulse(let device):
        let terminal = global.terminal
        let source = PulseSource(device, gate: capture.gate) { format in
          terminal.say(
            "sound is \(format.sampleRate) Hz, \(format.channelCount) channels, "
              + "\(format.sampleFormat)")
        }
        try role.run(source)
      case .screen, .window, .test, .y4m, .tone: break
      }
    #else
      throw NoMedia(source: capture.source)
    #endif
  }

  #if Media
    /// Where the sound of a file goes. Its pictures come without it, where it cannot be published.
    private func sound(beside role: CaptureRole) throws -> PipelineSource.SoundPart? {
      guard let stream = try capture.soundStream() else { return nil }
      let terminal = global.terminal
      return PipelineSource.SoundPart(try role.session(beside: stream)) { why in
        ProductLog.append(.warning, "the file's sound is left out: \(why)")
        terminal.warn("the file's sound is left out: \(why); --sound names another stream, or none")
      }
    }
  #endif
}
