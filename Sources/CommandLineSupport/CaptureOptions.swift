import ArgumentParser
import Capture
import FrameBus
import Sound

/// The options of `framebus capture` and of the programs behind it.
public struct CaptureOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "What to capture: \(SourceSpecification.summary).",
      discussion: """
        Test patterns: bars, gradient, noise, flash. A screen and a test pattern do nothing while \
        nobody subscribes; a file and y4m wait for their first subscriber and lose no frame.
        pulse:monitor is what the machine plays, pulse:mic its microphone. A beep is heard when \
        test:flash is white, at the beginning of each second.
        """))
  public var source: String

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "The stream to publish (default: \(DefaultStream.name); of sound audio.app or audio.mic).",
      valueName: "name"))
  public var streamText: String?

  @Option(
    name: .customLong("fps"),
    help: ArgumentHelp(
      "Frames a second, such as 60 or 30000/1001 (default: 30, or the file's own).",
      valueName: "n"))
  public var rateText: String?

  @Option(
    name: .customLong("size"),
    help: ArgumentHelp(
      "Of a test pattern (default: 1280x720), or the part of a screen to capture: WxH[+X+Y].",
      valueName: "WxH"))
  public var sizeText: String?

  @Option(
    name: .customLong("sound"),
    help: ArgumentHelp(
      "The stream for a file's sound (default: audio.app); none: leave it out.", valueName: "name"))
  public var soundText: String?

  @Option(
    name: .customLong("kind"),
    help: ArgumentHelp(
      "Whose sound it is, app or mic, and so which side of `framebus broadcast sound` switches it "
        + "(default: mic of pulse:mic and of a stream audio.mic).", valueName: "kind"))
  public var kindText: String?

  @Option(
    help: ArgumentHelp(
      "Of sound: hold silence back after N frames of 10 ms; 0: never.", valueName: "n"))
  public var silence: Int = SilenceGate.usualLimit

  @Option(help: ArgumentHelp("End after N frames.", valueName: "n"))
  public var frames: Int?

  @Option(help: ArgumentHelp("End S seconds after the start.", valueName: "s"))
  public var duration: Double?

  @Option(
    help: ArgumentHelp(
      "How a screen's pixels come: shm (the X server writes them in place) or socket "
        + "(slower; works with remote displays).", valueName: "backend"))
  public var backend: String = "shm"

  @Flag(help: "Keep the X server, and so all its clients, out of the pool, at one copy a frame.")
  public var isolate = false

  @Option(
    name: .customLong("protect"),
    help: ArgumentHelp(
      "Show windows of a screen as black: those of a program (as `xprop WM_CLASS` names it) or "
        + "one by its id (0x…), and in any case those that have the X property "
        + "_FRAMEBUS_PROTECTED, for which alone: marked. Costs one copy a frame.",
      valueName: "window"))
  public var protected: [String] = []

  @Option(
    name: .customLong("orientation"),
    help: ArgumentHelp(
      "How a screen's or test pattern's picture lies, 1 to 8 as in EXIF (default: 1, upright).",
      valueName: "n"))
  public var orientationNumber: UInt8 = Orientation.up.rawValue

  @Option(help: ArgumentHelp("The broadcast it is for, as its host says.", visibility: .hidden))
  public var session: String?

  @Flag(name: .customLong("no-cursor"), help: "Leave the mouse cursor out.")
  public var hidesCursor = false

  @Flag(help: "Capture an X screen that belongs to a Wayland session all the same.")
  public var force = false

  public init() {}

  public func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use seconds, more than 0")
    }
    if silence < 0 { throw ValidationError("--silence \(silence): use 0 or more") }
    if kindText != nil, soundKind == nil {
      throw ValidationError("--kind \(kindText ?? ""): use app or mic")
    }
    guard ["shm", "socket"].contains(backend) else {
      throw ValidationError("--backend \(backend): use shm or socket")
    }
    if Orientation(rawValue: orientationNumber) == nil {
      throw ValidationError("--orientation \(orientationNumber): use 1 to 8")
    }
    if let text = protected.first(where: { $0.isEmpty || $0.contains { $0.isWhitespace } }) {
      throw ValidationError("--protect “\(text)”: use a program's name or a window's id")
    }
    if isolate, backend == "socket" {
      throw ValidationError("--isolate: the backend socket shares no memory already; leave one out")
    }
    do {
      _ = try rate()
      _ = try region()
      _ = try [streamText, soundText].map { try $0.map { try StreamName($0) } }
    } catch { throw ValidationError("\(error)") }
  }

  /// What to capture.
  public func specification() throws(UsageError) -> SourceSpecification {
    do { return try SourceSpecification(source) } catch { throw UsageError("\(error)") }
  }

  /// The program that has the source.
  public func programName() throws(UsageError) -> String {
    try specification().needsGStreamer ? "framebus-capture-gstreamer" : "framebus-capture"
  }

  public func stream() throws(UsageError) -> StreamName {
    let usual = try specification().usualStream
    let text = streamText ?? usual
    do { return try StreamName(text) } catch { throw UsageError("\(error)") }
  }

  /// The stream for the sound of a file; nil for none.
  public func soundStream() throws(UsageError) -> StreamName? {
    let text = soundText ?? "audio.app"
    if text == "none" { return nil }
    do { return try StreamName(text) } catch { throw UsageError("\(error)") }
  }

  /// Whose sound it is; nil: the source knows.
  public var soundKind: FrameFormat.Kind? {
    switch kindText {
    case "app": .appAudio
    case "mic": .micAudio
    default: nil
    }
  }

  /// How long silence is published.
  public var gate: SilenceGate { SilenceGate(limit: silence == 0 ? nil : silence) }

  public var orientation: Orientation { Orientation(rawValue: orientationNumber) ?? .up }

  public func rate() throws(CaptureOptionError) -> FrameRate? {
    try rateText.map(parseFrameRate)
  }

  public func region() throws(CaptureOptionError) -> PixelRect? {
    try sizeText.map(parseSize)
  }

  /// These options as a log may have them.
  var logged: [String] { [LoggedText.address(source)] + arguments.dropLast(2) }

  /// These options as another program of this product parses them again.
  public var arguments: [String] {
    var result: [String] = []
    func add(_ name: String, _ value: String?) {
      if let value { result += ["--\(name)=\(value)"] }
    }
    add("stream", streamText)
    add("fps", rateText)
    add("size", sizeText)
    add("sound", soundText)
    add("kind", kindText)
    add("session", session)
    if silence != SilenceGate.usualLimit { add("silence", "\(silence)") }
    add("frames", frames.map(String.init))
    add("duration", duration.map { "\($0)" })
    add("backend", backend)
    protected.forEach { add("protect", $0) }
    if orientation != .up { add("orientation", "\(orientationNumber)") }
    if isolate { result.append("--isolate") }
    if hidesCursor { result.append("--no-cursor") }
    if force { result.append("--force") }
    return result + ["--", source]
  }
}
