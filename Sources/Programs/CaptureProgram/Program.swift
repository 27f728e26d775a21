import ArgumentParser
import Capture
import CaptureX11
import CommandLineSupport
import FrameBus

/// The program `framebus-capture`: captures one source that needs no codec, in its own process. It
/// refuses to load GStreamer, and leaves sources that need it to `framebus-capture-gstreamer`.
@main struct CaptureProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-capture",
    abstract: "Publish a screen, a test pattern, a tone or raw video.")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  static func main() { runProgram(CaptureProgram.self) }

  func run() throws {
    let specification = try capture.specification()
    if specification.kind.usesGStreamer {
      try executeProgram(named: specification.kind.program, arguments)
    }
    let role = try CaptureRole(capture, global)
    let rate = try capture.picture.rate() ?? FrameRate(30)
    switch specification {
    case .test(let style):
      let size = try capture.picture.region() ?? PixelRect(x: 0, y: 0, width: 1280, height: 720)
      try role.run(
        TestSource(
          style, width: size.width, height: size.height, rate: rate,
          orientation: capture.pictureOrientation))
    case .y4m(let path): try role.run(Y4MSource(path: path, rate: try capture.picture.rate()))
    case .screen(let display): try role.run(screen(display, rate: rate))
    case .window(let id): try role.run(screen(nil, window: id, rate: rate))
    case .tone(let tone): try role.run(ToneSource(tone, gate: capture.gate))
    case .file, .pipeline, .pulse: break
    }
  }

  #if Media
    private func screen(
      _ display: String?, window: UInt32? = nil, rate: FrameRate
    ) throws -> ScreenSource {
      var options = ScreenOptions()
      options.display = display
      options.window = window
      options.rate = rate
      options.region = try capture.picture.region()
      options.drawsCursor = !capture.noCursor
      options.allowsWayland = capture.force
      options.orientation = capture.pictureOrientation
      options.whileSaver = SaverPolicy(rawValue: capture.whileSaver) ?? .pause
      if !capture.protect.isEmpty {
        var rule = ProtectionRule()
        capture.protect.forEach { rule.add($0) }
        options.protection = rule
      }
      options.backend =
        capture.isolate ? .isolated : ScreenBackend(rawValue: capture.backend) ?? .automatic
      return ScreenSource(options)
    }
  #else
    private func screen(
      _ display: String?, window: UInt32? = nil, rate: FrameRate
    ) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }
  #endif
}
