import ArgumentParser
import Capture
import FrameBus

/// The options of `framebus capture` and the capture programs.
public struct CaptureOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Source, one of those listed here.",
      discussion: """
        \(SourceKind.list { $0.program != nil })
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

  @OptionGroup public var capture: CaptureSettingOptions

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

  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this PEM file, not the system's.", valueName: "file"))
  public var ca: String?

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  public var frames: Int?

  @Option(help: ArgumentHelp("Stop S seconds after the start.", valueName: "s"))
  public var duration: Double?

  @Option(help: ArgumentHelp("Session of the broadcast, set by its host.", visibility: .hidden))
  public var session: String?

  @Option(
    help: ArgumentHelp(
      "Node, and the descriptor that the portal granted to the host.", visibility: .hidden))
  public var grant: String?

  public init() {}

  public func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use a number of seconds above 0, up to 1e9")
    }
    if kindText != nil, soundKind == nil {
      throw ValidationError("--kind \(kindText ?? ""): use app or mic")
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
    let source = try specification()
    if let program = source.kind.program { return program }
    guard case .stream(let stream) = source else { preconditionFailure("\(source)") }
    throw UsageError("\(SourceSpecificationError.notCaptured(stream))")
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

  /// The options that a broadcast has too.
  public func settings() throws(UsageError) -> CaptureSettings {
    do { return try capture.settings() } catch { throw UsageError("\(error)") }
  }

  /// Throws if the source cannot have these options.
  public func checkSource() throws(UsageError) {
    let (kind, settings) = (try specification().kind, try settings())
    do { try kind.check(settings) } catch { throw UsageError("--\(error)") }
    if soundText != nil, !kind.hasSound {
      throw UsageError("--sound: the source \(kind.name) has no sound of its own; leave it out")
    }
    if ca != nil, !kind.isEncrypted {
      throw UsageError("--ca: the source \(kind.name) has no certificate; leave it out")
    }
    let isSilent = !kind.hasSound && !kind.usesGStreamer && !kind.options.contains(.silence)
    if kindText != nil, isSilent {
      throw UsageError("--kind: the source \(kind.name) has no sound; leave it out")
    }
  }

  /// The options without secrets, for a log.
  var logged: [String] { [LoggedText.address(source)] + optionArguments }
}
