import ArgumentParser
import Capture
import CaptureGStreamer
import CommandLineSupport
import FrameBus
import GStreamerLog

/// The program `framebus-capture-gstreamer`: captures one source through GStreamer, in its own
/// process. It refuses to encode or send anything.
@main struct CaptureGStreamerProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-capture-gstreamer",
    abstract: "Publish a video file, a pipeline or the machine's sound.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  static func main() { runProgram(CaptureGStreamerProgram.self) }

  func run() throws {
    let specification = try capture.specification()
    guard specification.kind.usesGStreamer else {
      try executeProgram(named: capture.programName(), arguments)
    }
    #if Media
      let settings = try capture.settings()
      let role = try CaptureRole(capture, global)
      GStreamerLog.begin(minimumLevel: ProductLog.minimumLevel) { line in
        ProductLog.append(
          line.level, "\(line.category): \(line.text)", label: "gstreamer", source: line.source,
          line: line.sourceLine)
      }
      try role.interruptible { () throws(PipelineError) in try startGStreamer() }
      switch specification {
      case .file(let path):
        let rate = settings.frameRate
        try role.run(PipelineSource(file: path, rate: rate, sound: try sound(beside: role)))
      case .pipeline(let text):
        try role.run(PipelineSource(pipeline: text, rate: settings.frameRate))
      case .pulse(let device):
        let terminal = global.terminal
        let source = PulseSource(device, gate: settings.silenceGate) { format in
          CaptureRole.reportFormat(format, terminal)
        }
        try role.run(source)
      case .screen, .window, .test, .y4m, .tone, .stream: break
      }
    #else
      throw NoMedia(source: capture.source)
    #endif
  }

  #if Media
    /// The part that publishes a file's sound. If that fails, the pictures continue without sound.
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
