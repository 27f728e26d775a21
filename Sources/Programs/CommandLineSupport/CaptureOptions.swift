import ArgumentParser
import Capture
import FrameBus
import Sound

/// The options of `framebus capture` and the capture programs.
public struct CaptureOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Source, one of those listed here.",
      discussion: """
        \(SourceKind.all.map { "\($0.form): \($0.help)." }.joined(separator: "\n"))
        A screen or test pattern idles without subscribers; a file or y4m waits for its first \
        subscriber and loses no frame. A beep sounds while test:flash is white, at the start of \
        each second.
        """))
  public var source: String

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "Stream to publish (default: \(DefaultStream.name)).",
      discussion: "The default for sound is audio.app or audio.mic.",
      valueName: "name"))
  public var streamText: String?

  @OptionGroup public var picture: PictureOptions

  @Option(
    name: .customLong("sound"),
    help: ArgumentHelp(
      "Stream of a file's sound (default: audio.app); “none” omits it.", valueName: "name"))
  public var soundText: String?

  @Option(
    name: .customLong("kind"),
    help: ArgumentHelp(
      "Kind of the sound, app or mic.",
      discussion: """
        It selects the switch of `framebus broadcast sound` that controls the capture. The default \
        is mic for pulse:mic and for a stream audio.mic, else app.
        """,
      valueName: "kind"))
  public var kindText: String?

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  public var frames: Int?

  @Option(help: ArgumentHelp("Stop S seconds after the start.", valueName: "s"))
  public var duration: Double?

  @Option(
    help: ArgumentHelp(
      "Suppress silence after N sound frames of 10 ms; 0 disables.", valueName: "n"))
  public var silence: Int = SilenceGate.usualLimit

  @Option(
    help: ArgumentHelp(
      "Transfer of screen pixels: auto, shm or socket.",
      discussion: """
        With shm the X server writes into the slot; socket is slower and works with remote \
        displays. The default, auto, uses shm where the server can share memory.
        """,
      valueName: "backend"))
  public var backend: String = "auto"

  @Flag(help: "Keep X clients out of the pool, at one copy per frame.")
  public var isolate = false

  @Option(
    help: ArgumentHelp(
      "Black out windows of a program, or one window by its ID (0x…).",
      discussion: """
        The program is named as by `xprop WM_CLASS`. Windows with the X property \
        _FRAMEBUS_PROTECTED are black too; “marked” selects only those. Their frames, menus, \
        tooltips and dialogs are black with them. Costs one copy per frame.
        """,
      valueName: "window"))
  public var protect: [String] = []

  @Option(
    help: ArgumentHelp(
      "While the screen saver is on: pause, capture or inhibit.",
      discussion: """
        pause publishes nothing, capture what the screen shows; inhibit keeps the X server's \
        saver off while there are subscribers. The default is pause, and inhibit in a broadcast. \
        A screen without a monitor (Xvfb) is captured while it is blank.
        """,
      valueName: "policy"))
  public var whileSaver: String = "pause"

  @Option(
    help: ArgumentHelp(
      "Orientation of the picture, 1 to 8 as in EXIF.",
      discussion: "For a screen or test pattern; 1 is upright.",
      valueName: "n"))
  public var orientation: UInt8 = Orientation.up.rawValue

  @Option(help: ArgumentHelp("Session of the broadcast, set by its host.", visibility: .hidden))
  public var session: String?

  @Flag(help: "Omit the mouse cursor.")
  public var noCursor = false

  @Flag(help: "Capture an X screen even if it belongs to a Wayland session.")
  public var force = false

  public init() {}

  public func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use a number of seconds above 0, up to 1e9")
    }
    if silence < 0 { throw ValidationError("--silence \(silence): use 0 or more") }
    if kindText != nil, soundKind == nil {
      throw ValidationError("--kind \(kindText ?? ""): use app or mic")
    }
    guard ["auto", "shm", "socket"].contains(backend) else {
      throw ValidationError("--backend \(backend): use auto, shm or socket")
    }
    guard ["pause", "capture", "inhibit"].contains(whileSaver) else {
      throw ValidationError("--while-saver \(whileSaver): use pause, capture or inhibit")
    }
    if Orientation(rawValue: orientation) == nil {
      throw ValidationError("--orientation \(orientation): use 1 to 8")
    }
    if let text = protect.first(where: { $0.isEmpty || $0.contains { $0.isWhitespace } }) {
      throw ValidationError("--protect “\(text)”: use a program's name or a window's ID")
    }
    if isolate, backend == "socket" {
      throw ValidationError(
        "--isolate: the socket backend shares no memory anyway; remove one of the two options")
    }
    do {
      _ = try [streamText, soundText].map { try $0.map { try StreamName($0) } }
    } catch { throw ValidationError("\(error)") }
  }

  /// The source to capture.
  public func specification() throws(UsageError) -> SourceSpecification {
    do { return try SourceSpecification(source) } catch { throw UsageError("\(error)") }
  }

  /// The program that captures the source.
  public func programName() throws(UsageError) -> String {
    try specification().kind.program
  }

  public func stream() throws(UsageError) -> StreamName {
    let usual = try specification().usualStream
    let text = streamText ?? usual
    do { return try StreamName(text) } catch { throw UsageError("\(error)") }
  }

  /// The stream for a file's sound; nil for none.
  public func soundStream() throws(UsageError) -> StreamName? {
    let text = soundText ?? "audio.app"
    if text == "none" { return nil }
    do { return try StreamName(text) } catch { throw UsageError("\(error)") }
  }

  /// The kind of the sound; nil if the source determines it.
  public var soundKind: FrameFormat.Kind? {
    switch kindText {
    case "app": .appAudio
    case "mic": .micAudio
    default: nil
    }
  }

  /// The gate that limits how long silence is published.
  public var gate: SilenceGate { SilenceGate(limit: silence == 0 ? nil : silence) }

  public var pictureOrientation: Orientation { Orientation(rawValue: orientation) ?? .up }

  /// The options without secrets, for a log.
  var logged: [String] { [LoggedText.address(source)] + optionArguments }
}

/// The options for the pictures of a capture, which the host of a broadcast passes on.
public struct PictureOptions: ParsableArguments {
  @Option(
    name: .customLong("fps"),
    help: ArgumentHelp(
      "Frames per second, such as 60 or 30000/1001.",
      discussion: "The default is the rate of a file, else 30.",
      valueName: "n"))
  public var fpsText: String?

  @Option(
    name: .customLong("size"),
    help: ArgumentHelp(
      "Size of a test pattern (default: 1280x720).",
      discussion: "For a screen, the part to capture: WxH[+X+Y].",
      valueName: "WxH"))
  public var sizeText: String?

  public init() {}

  public func validate() throws {
    do {
      _ = try rate()
      _ = try region()
    } catch { throw ValidationError("\(error)") }
  }

  public func rate() throws(CaptureOptionError) -> FrameRate? {
    try fpsText.map(parseFrameRate)
  }

  public func region() throws(CaptureOptionError) -> PixelRect? {
    try sizeText.map(parseSize)
  }
}
