import AppGroup
import ArgumentParser
import Broadcast
import Capture
import CaptureCamera
import CaptureGStreamer
import CommandLineSupport
import FrameBus
import GStreamerLog
import Synchronization

/// The program `framebus-capture-gstreamer`: captures one source through GStreamer, in its own
/// process. It refuses to encode or send anything.
@main struct CaptureGStreamerProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-capture-gstreamer",
    abstract: "Publish a video file, a pipeline, a camera or the machine's sound.",
    subcommands: subcommands, defaultSubcommand: CaptureSource.self)

  private static var subcommands: [any ParsableCommand.Type] {
    #if Media
      [CaptureSource.self, ListCameras.self]
    #else
      [CaptureSource.self]
    #endif
  }

  static func main() { runProgram(CaptureGStreamerProgram.self) }
}

/// `framebus-capture-gstreamer SOURCE`.
struct CaptureSource: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "source", abstract: "Publish a source (default).")

  @OptionGroup var capture: CaptureOptions
  @OptionGroup var global: GlobalOptions

  func run() throws {
    let specification = try capture.specification()
    guard specification.kind.usesGStreamer || specification.kind.needs == .camera else {
      try executeProgram(named: capture.programName(), arguments)
    }
    #if Media
      let settings = try capture.settings()
      let report = SessionSound(of: capture)
      let role = try CaptureRole(capture, global, soundMissing: report?.set)
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
        try role.run(
          PipelineSource(pipeline: text, rate: settings.frameRate, content: settings.content))
      case .network(let address): try runNetwork(address, role)
      case .pulse(let device):
        try role.run(PulseSource(device, gate: settings.silenceGate))
      case .camera(let name): try runCamera(name, settings, role)
      case .screen, .wayland, .waylandWindow, .window, .portal, .test, .y4m, .pipeWire, .tone,
        .stream:
        break
      }
    #else
      throw NoMedia(source: capture.source)
    #endif
  }

  #if Media
    private func runNetwork(_ address: SourceAddress, _ role: CaptureRole) throws {
      // GStreamer logs the whole address.
      address.keys.forEach(ProductLog.leaveOut)
      let settings = try capture.settings()
      let secret = try settings.secret.map { name in
        try NetworkSecret(named: name, isBearer: address.web != nil, global)
      }
      if let file = capture.ca { try trustCertificates(in: file) }
      try restrictAddresses(to: address)
      try role.run(
        NetworkSource(
          address, secret: secret, largest: settings.region,
          certificates: capture.ca, sound: try sound(of: "server", beside: role),
          hide: RelayPasswords().leaveOut))
    }

    private func runCamera(
      _ name: String?, _ settings: CaptureSettings, _ role: CaptureRole
    ) throws {
      let orientation = settings.orientation ?? .up
      let isEncoded: Bool
      do throws(CameraError) {
        isEncoded = try EncodedCamera.isNeeded(for: name, settings)
      } catch {
        guard error.isUnknownDevice else { throw error }
        let origin = NodeOrigin(name, settings)
        return try role.run(ReturningSource("the camera", origin, orientation: orientation))
      }
      let endsWhenLost = CaptureRole.isConfined
      if !isEncoded {
        return try role.run(CameraSource(name, settings, endsWhenLost: endsWhenLost))
      }
      try role.run(
        ReturningSource(
          "the camera", CameraOrigin(name, settings), orientation: orientation,
          endsWhenLost: endsWhenLost))
    }

    /// The part that publishes the sound beside the pictures. If that fails, they continue without.
    private func sound(
      of origin: String = "file", beside role: CaptureRole
    ) throws -> PipelineSource.SoundPart? {
      guard let stream = try capture.soundStream() else { return nil }
      let terminal = global.terminal
      return PipelineSource.SoundPart(try role.session(beside: stream)) { why in
        let text = "the \(origin)'s sound is left out: \(why)"
        ProductLog.append(.warning, text)
        terminal.warn("\(text); --sound names another stream, or none")
      }
    }
  #endif
}

#if Media
  /// The passwords of relays that a server has named, which the log leaves out. Each line is
  /// compared with all of them, so there is a limit to what a server can add.
  private final class RelayPasswords: Sendable {
    private static let maximumCount = 256
    private let left = Mutex(RelayPasswords.maximumCount)

    @Sendable func leaveOut(_ password: String) {
      let isLeftOut = left.withLock { left in
        left = max(-1, left - 1)
        return left >= 0
      }
      if isLeftOut { ProductLog.leaveOut(password) }
    }
  }

  /// Reports to the broadcast of which a capture is part why it captures only silence.
  private final class SessionSound: Sendable {
    private let session: String
    private let type: SampleBufferType
    private let report = Mutex<SoundReport?>(nil)

    /// - Returns: nil for a capture outside a broadcast.
    init?(of options: CaptureOptions) {
      guard let session = options.session else { return nil }
      self.session = session
      type = options.soundKind == .micAudio ? .audioMic : .audioApp
    }

    @Sendable func set(_ why: String?, in group: AppGroup) {
      do {
        try report.withLock { report in
          report = try report ?? SoundReport(session: session, type, in: group)
          try report?.set(missing: why)
        }
      } catch { ProductLog.append(.warning, "the broadcast's record does not say so: \(error)") }
    }
  }
#endif
