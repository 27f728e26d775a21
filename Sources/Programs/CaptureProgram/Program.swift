import ArgumentParser
import Capture
import CaptureCamera
import CapturePipeWire
import CaptureWayland
import CaptureX11
import CommandLineSupport
import FrameBus

/// The program `framebus-capture`: captures one source that needs no codec, in its own process. It
/// refuses to load GStreamer, and leaves sources that need it to `framebus-capture-gstreamer`.
///
/// It also lists what can be captured, because it has the connection to the display.
@main struct CaptureProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-capture",
    abstract: "Publish a screen, a camera, a test pattern, a tone or raw video.",
    subcommands: [CaptureSource.self, ListWindows.self, ListScreens.self, ListCameras.self],
    defaultSubcommand: CaptureSource.self)

  static func main() { runProgram(CaptureProgram.self) }
}

/// `framebus-capture SOURCE`.
struct CaptureSource: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "source", abstract: "Publish a source (default).")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    let specification = try capture.specification()
    if specification.kind.usesGStreamer {
      try executeProgram(named: capture.programName(), arguments)
    }
    if case .camera(let name) = specification, try needsGStreamer(name) {
      #if Media
        try executeProgram(named: SourceKind.mediaProgram, arguments)
      #else
        throw NoMedia(source: "\(capture.source), whose pictures need a decoder")
      #endif
    }
    // Before the run begins, because its user may have to click first.
    let window = try chosenWindow(specification)
    let role = try CaptureRole(capture, global)
    let settings = try capture.settings()
    let rate = settings.frameRate ?? specification.kind.usualFrameRate ?? FrameRate(30)
    switch specification {
    case .test(let style):
      let size = settings.region ?? PixelRect(x: 0, y: 0, width: 1280, height: 720)
      try role.run(
        TestSource(
          style, width: size.width, height: size.height, rate: rate,
          orientation: settings.orientation ?? .up))
    case .y4m(let path):
      let content = settings.content ?? .other
      try role.run(Y4MSource(path: path, rate: settings.frameRate, content: content))
    case .camera(let name):
      try role.run(CameraSource(name, settings, endsWhenLost: CaptureRole.isConfined))
    case .screen(let display):
      if display == nil, settings.allowsWayland != true, isWaylandSession {
        return try role.run(waylandScreen(role))
      }
      try role.run(screen(display, role))
    case .wayland(nil): try role.run(waylandOutput(role))
    case .wayland(let output): try role.run(wayland(.output(output), role))
    case .waylandWindow(let id): try role.run(wayland(.window(id), role))
    case .window: try role.run(screen(nil, window: window, role))
    case .portal(let picture): try role.run(portal(picture, settings))
    case .pipeWire(let node): try role.run(sound(of: node, settings))
    case .tone(let tone): try role.run(ToneSource(tone, gate: settings.silenceGate))
    case .file, .pipeline, .network, .pulse, .stream: break
    }
  }

  /// Whether a camera's pictures need a decoder, or come from PipeWire.
  private func needsGStreamer(_ name: String?) throws -> Bool {
    let settings = try capture.settings()
    do throws(CameraError) {
      return try EncodedCamera.isNeeded(for: name, settings)
    } catch {
      #if Media
        if error.isUnknownDevice, CameraSearch.mayHaveNodes { return true }
      #endif
      // A broadcast starts a capture again that ends later than at once.
      if error.isTemporary { CaptureRole.waitIfRestarted() }
      throw error
    }
  }

  #if Media
    /// - Returns: the ID of the window that the source names; nil for another source.
    private func chosenWindow(_ source: SourceSpecification) throws -> UInt32? {
      guard case .window(let selector) = source else { return nil }
      if case .id(let id) = selector { return id }
      return try X11Display().window(selector) { global.terminal.reportPick() }.id
    }

    private var isWaylandSession: Bool { X11Display.isOfWaylandSession }

    /// The screen of a Wayland session, for a user who named none.
    private func waylandScreen(_ role: CaptureRole) throws -> SessionScreen {
      var settings = try capture.settings()
      switch settings.protection {
      case .on?: throw WaylandError.noProtection
      case .off?: settings.protection = nil
      case nil: if try role.hasProtectedWindows() { throw WaylandError.noProtection }
      }
      settings.allowsWayland = nil
      // The saver is the compositor's; what a broadcast inhibits is that of an X server.
      if capture.session != nil { settings.whileSaver = nil }
      try SourceKind.wayland.check(settings)
      return SessionScreen(settings)
    }

    private func wayland(_ target: WaylandTarget, _ role: CaptureRole) throws -> WaylandSource {
      try warnOfProtection(role)
      return WaylandSource(WaylandOptions(try capture.settings(), of: target))
    }

    /// The first output, for a user who named none.
    private func waylandOutput(_ role: CaptureRole) throws -> SessionScreen {
      try warnOfProtection(role)
      return SessionScreen(try capture.settings())
    }

    private func warnOfProtection(_ role: CaptureRole) throws {
      guard try role.hasProtectedWindows() else { return }
      global.terminal.warn(
        "the group's setting protectedWindows has no effect: a compositor does not tell where "
          + "windows are")
    }

    private func portal(
      _ picture: PortalPicture, _ settings: CaptureSettings
    ) throws -> PortalSource {
      var options = PortalOptions(picture, settings)
      options.grant = try capture.grant.map { text in
        guard let grant = PortalOptions.Grant(text) else {
          throw UsageError("--grant \(text): use NODE:DESCRIPTOR")
        }
        return grant
      }
      return PortalSource(options)
    }

    private func screen(
      _ display: String?, window: UInt32? = nil, _ role: CaptureRole
    ) throws -> ScreenSource {
      var settings = try capture.settings()
      settings.protection = try role.protection()
      var options = ScreenOptions(settings, display: display, window: window)
      // A broadcast lasts while its extension is restarted or paused.
      options.staysAwake = capture.session != nil
      return ScreenSource(options)
    }

    private func sound(of node: String, _ settings: CaptureSettings) -> PipeWireSoundSource {
      PipeWireSoundSource(
        node, gate: settings.silenceGate, endsWithServer: CaptureRole.isConfined)
    }
  #else
    private func sound(of node: String, _ settings: CaptureSettings) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }

    private func chosenWindow(_ source: SourceSpecification) throws -> UInt32? { nil }
    private var isWaylandSession: Bool { false }

    private func waylandScreen(_ role: CaptureRole) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }

    private func waylandOutput(_ role: CaptureRole) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }

    private enum WaylandTarget { case output(String?), window(String) }

    private func wayland(_ target: WaylandTarget, _ role: CaptureRole) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }

    private func portal(
      _ picture: PortalPicture, _ settings: CaptureSettings
    ) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }

    private func screen(
      _ display: String?, window: UInt32? = nil, _ role: CaptureRole
    ) throws -> TestSource {
      throw NoMedia(source: capture.source)
    }
  #endif
}
