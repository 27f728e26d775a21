import FrameBus
import Platform
import Sound

/// A kind of source: one row of the table that parsing, help, the choice of the capture program,
/// the sandbox of a capture, `framebus doctor`, the log and the documentation read.
public struct SourceKind: Sendable {
  /// The word before the colon.
  public let name: String
  /// How a user writes it, such as `screen[:DISPLAY]`.
  public let form: String
  /// What it is, in at most 60 characters.
  public let help: String
  /// The program that captures it; nil if an application publishes it, so that only a broadcast
  /// can take it.
  public let program: String?
  /// What a sandboxed capture needs for it.
  public let needs: Needs
  /// The stream that is published if the user names none.
  let usualStream: String
  /// The options that its capture has, besides those of protection.
  public let options: Set<CaptureSettings.Option>
  /// The rate of its pictures without `--fps`; nil for a source that has its own.
  package let usualFrameRate: FrameRate?
  /// Whether it has sound beside its pictures.
  public let hasSound: Bool
  /// The secret that its server may expect: `--secret` names a credential that contains it.
  public let secret: Secret?
  /// GStreamer's plugins, `libgstNAME.so`, by name, with the Debian package of each.
  public let plugins: [String: String]
  let parse: Parse

  typealias Parse =
    @Sendable (String?) throws(SourceSpecificationError) -> SourceSpecification

  /// What a capture needs of this machine.
  public enum Needs: String, Sendable {
    /// Nothing.
    case nothing
    /// An X server.
    case display
    /// A Wayland compositor's socket.
    case compositor
    /// A file, which it reads.
    case file
    /// A PulseAudio server, or PipeWire's own.
    case soundServer = "sound server"
    /// The socket of the user's PipeWire server.
    case pipeWire = "PipeWire"
    /// A camera's device.
    case camera
    /// A connection that the desktop's portal has granted. The host asks for it.
    case grant = "desktop portal"
    /// Another machine: the network, and nothing of this machine.
    case network
    /// Any element of a pipeline: it cannot be sandboxed.
    case anything
    /// No capture: an application that publishes. What its frames show is unknown.
    case publisher
  }

  /// A kind with a secret may have keys in its address as well, so messages and logs shorten it.
  public enum Secret: String, CaseIterable, Sendable {
    /// A passphrase.
    case passphrase
    /// A stream key.
    case streamKey = "stream key"
    /// The account of its credential is the user's name.
    case password
    /// A bearer token.
    case bearer = "bearer token"
  }

  /// The program of captures without GStreamer.
  public static let plainProgram = "framebus-capture"
  /// The program of captures with GStreamer.
  public static let mediaProgram = "framebus-capture-gstreamer"

  init(
    _ form: String, _ help: String, by program: String? = plainProgram, needs: Needs,
    options: Set<CaptureSettings.Option>,
    stream: String = "screen", rate: FrameRate? = nil, hasSound: Bool = false,
    secret: Secret? = nil, plugins: [String: String] = [:],
    parse: @escaping Parse
  ) {
    name = String(form.prefix { $0.isLetter || $0.isNumber || $0 == "-" })
    self.form = form
    self.help = help
    self.program = program
    self.needs = needs
    usualStream = stream
    self.options = options
    usualFrameRate = rate
    self.hasSound = hasSound
    self.secret = secret
    self.plugins = plugins
    self.parse = parse
  }

  /// Whether its program uses GStreamer.
  public var usesGStreamer: Bool { program == Self.mediaProgram }

  /// Why no window can be black, as text for people; nil if windows can. Only an X server says
  /// where they are.
  package var protectionObstacle: String? {
    needs == .display ? nil : "impossible for \(name)"
  }

  /// Throws if a capture of this kind would ignore one of the settings.
  /// - Parameter others: options of the captures beside it, such as those of a broadcast's sound.
  public func check(
    _ settings: CaptureSettings, besides others: Set<CaptureSettings.Option> = []
  ) throws(CaptureOptionError) {
    if case .on? = settings.protection, protectionObstacle != nil { throw .noProtection(name) }
    let known = options.union(others)
    var foreign = CaptureSettings.Option.allCases
      .filter { settings.text(of: $0) != nil && !known.contains($0) }.map(\.rawValue)
    if settings.protection == .off, protectionObstacle != nil { foreign.append("no-protect") }
    if foreign.isEmpty { return }
    throw .notOfSource(foreign, kind: name, known: known.map(\.rawValue).sorted())
  }
}

extension SourceKind {
  private static let drawnRate = FrameRate(30)
  private static let drawn: Set<CaptureSettings.Option> = [
    .fps, .size, .orientation, .cursor, .isolate, .backend, .force, .whileSaver,
  ]

  static let screen = SourceKind(
    "screen[:DISPLAY]", "X11 screen, or that of a Wayland session", needs: .display, options: drawn,
    rate: drawnRate
  ) { argument throws(SourceSpecificationError) in
    if argument == "" { throw .missingArgument("screen:", "a display such as screen:0") }
    // `screen:1` and `screen::1` both mean display `:1`; `screen:host:0` means `host:0`.
    return .screen(display: argument.map { $0.contains(":") ? $0 : ":\($0)" })
  }

  /// `wayland[:OUTPUT]`
  public static let wayland = SourceKind(
    "wayland[:OUTPUT]", "Output of a Wayland compositor such as sway", needs: .compositor,
    options: [.fps, .size, .orientation, .cursor], rate: drawnRate
  ) { argument throws(SourceSpecificationError) in
    if argument == "" {
      throw .missingArgument("wayland:", "an output that `framebus screens` lists")
    }
    return .wayland(output: argument)
  }

  /// `wayland-window:ID`
  public static let waylandWindow = SourceKind(
    "wayland-window:ID", "One window of a Wayland compositor that lists them", needs: .compositor,
    options: [.fps, .orientation, .cursor], rate: drawnRate
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty else {
      throw .missingArgument("wayland-window", "a window that `framebus windows` lists")
    }
    return .waylandWindow(id: argument)
  }

  static let window = SourceKind(
    "window:ID|TITLE|PROGRAM|pick", "One X11 window", needs: .display, options: drawn,
    rate: drawnRate
  ) { argument throws(SourceSpecificationError) in .window(try WindowSelector(argument ?? "")) }

  /// What the user chooses in the dialog of the desktop's portal.
  public static let portal = SourceKind(
    "portal[:monitor|window|virtual]", "What the user of a Wayland desktop chooses",
    needs: .grant, options: [.fps, .cursor], rate: drawnRate
  ) { argument throws(SourceSpecificationError) in
    guard let argument else { return .portal(.monitor) }
    guard let picture = PortalPicture.allCases.first(where: { $0.text == argument }) else {
      throw .badPicture(argument)
    }
    return .portal(picture)
  }

  static let test = SourceKind(
    "test[:PATTERN]", "Test pattern: bars, gradient, noise or flash", needs: .nothing,
    options: [.fps, .size, .orientation], rate: drawnRate
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty else { return .test(.bars) }
    guard let style = TestPatternStyle(rawValue: argument) else { throw .unknownPattern(argument) }
    return .test(style)
  }

  static let file = SourceKind(
    "file:PATH", "Video file with its sound", by: mediaProgram, needs: .file, options: [.fps],
    hasSound: true,
    plugins: ["libav": "gstreamer1.0-libav", "playback": "gstreamer1.0-plugins-base"]
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty else {
      throw .missingArgument("file", "a path such as file:talk.mkv")
    }
    return .file(path: argument)
  }

  static let y4m = SourceKind(
    "y4m:PATH", "Uncompressed video; y4m:- reads standard input", needs: .file,
    options: [.fps, .content]
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty else {
      throw .missingArgument("y4m", "a path, or y4m:- for standard input")
    }
    return .y4m(path: argument == "-" ? nil : argument)
  }

  static let gst = SourceKind(
    "gst:PIPELINE", "GStreamer pipeline without its sink", by: mediaProgram, needs: .anything,
    options: [.fps, .content]
  ) { argument throws(SourceSpecificationError) in
    guard let argument, argument.contains(where: { !$0.isWhitespace }) else {
      throw .missingArgument("gst", "a pipeline such as 'gst:videotestsrc'")
    }
    return .pipeline(argument)
  }

  static let camera = SourceKind(
    "camera[:PATH|NAME]", "Camera, by its device or its name", needs: .camera,
    options: [.fps, .size, .orientation, .format, .control], stream: "camera",
    plugins: [
      "jpeg": "gstreamer1.0-plugins-good", "libav": "gstreamer1.0-libav",
      "videoparsersbad": "gstreamer1.0-plugins-bad",
    ]
  ) { argument throws(SourceSpecificationError) in
    if argument?.allSatisfy(\.isWhitespace) == true {
      throw .missingArgument(
        "camera:", "a device or a name that `framebus cameras` lists, such as camera:/dev/video0")
    }
    return .camera(argument)
  }

  static let pulse = SourceKind(
    "pulse[:monitor|mic|DEVICE]", "Sound output, microphone or another sound device",
    by: mediaProgram, needs: .soundServer, options: [.silence],
    plugins: ["pulseaudio": "gstreamer1.0-pulseaudio"]
  ) { argument throws(SourceSpecificationError) in
    if argument == "" {
      throw .missingArgument("pulse:", "monitor, mic or a device that `pactl list sources` names")
    }
    return .pulse(SoundDevice(argument))
  }

  static let pipeWire = SourceKind(
    "pipewire:NODE", "Sound of a PipeWire device or application", needs: .pipeWire,
    options: [.silence], stream: SoundDevice.monitor.usualStream
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty, argument.utf8.count < 256 else {
      throw .missingArgument(
        "pipewire", "the name of a node, such as pipewire:Firefox; `pw-cli ls Node` lists them")
    }
    return .pipeWire(node: argument)
  }

  static let tone = SourceKind(
    "tone[:HZ]", "Test tone", needs: .nothing, options: [.silence],
    stream: SoundDevice.monitor.usualStream
  ) { argument throws(SourceSpecificationError) in .tone(try parseTone(argument, .steady)) }

  static let beep = SourceKind(
    "beep[:HZ]", "Test tone at each full second", needs: .nothing, options: [.silence],
    stream: SoundDevice.monitor.usualStream
  ) { argument throws(SourceSpecificationError) in .tone(try parseTone(argument, .everySecond)) }

  static let stream = SourceKind(
    "stream:NAME", "Frames that an application of the group publishes", by: nil,
    needs: .publisher, options: [], hasSound: true
  ) { argument throws(SourceSpecificationError) in
    guard let argument, !argument.isEmpty else {
      throw .missingArgument("stream", "the name of a stream, such as stream:game")
    }
    do throws(StreamNameError) {
      let name = try StreamName(argument)
      // The names of its sound are longer.
      for sound in SoundDevice.usualStreams { _ = try StreamName("\(name).\(sound)") }
      return .stream(name)
    } catch { throw .badStream(error) }
  }

  /// The rows.
  public static let all =
    [screen, wayland, waylandWindow, window, portal, camera, pipeWire, test, file, y4m] + networks
    + [gst, pulse, tone, beep, stream]

  /// The rows that match, one a line, as help lists them.
  public static func list(_ matches: (SourceKind) -> Bool) -> String {
    all.filter(matches).map { "\($0.form): \($0.help)." }.joined(separator: "\n")
  }

  /// A source as a user named it, without what may be a secret.
  package static func shown(_ text: String) -> String {
    isPublic(text) ? text : text.withoutSecrets
  }

  /// Whether the text names a source that contains no secret.
  package static func isPublic(_ text: String) -> Bool {
    all.contains { kind in
      ![.anything, .network].contains(kind.needs) && kind.name == text.prefix { $0 != ":" }
    }
  }

  private static func parseTone(
    _ argument: String?, _ rhythm: Tone.Rhythm
  ) throws(SourceSpecificationError) -> Tone {
    guard let hertz = argument.map(Double.init) ?? 1_000, Tone.frequencies.contains(hertz) else {
      throw .badFrequency(argument ?? "")
    }
    return Tone(hertz: hertz, rhythm: rhythm)
  }
}
