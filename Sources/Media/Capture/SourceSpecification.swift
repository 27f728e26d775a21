import Sound

/// A source as the command line names it: `screen:1`, `file:talk.mkv`, `y4m:-`.
public enum SourceSpecification: Hashable, Sendable {
  /// An X11 screen; nil for the display that `DISPLAY` names.
  case screen(display: String?)
  /// A window of the display that `DISPLAY` names, by its X id.
  case window(UInt32)
  case test(TestPatternStyle)
  /// Any file or address that GStreamer can decode.
  case file(path: String)
  /// Uncompressed video (YUV4MPEG2); nil for standard input.
  case y4m(path: String?)
  /// A test tone.
  case tone(Tone)
  /// A device of a PulseAudio or PipeWire server.
  case pulse(SoundDevice)
  /// A GStreamer pipeline without its sink.
  case pipeline(String)

  /// The available sources, as help and errors list them.
  public static let summary =
    "screen[:DISPLAY], window:ID, test[:PATTERN], file:PATH, y4m:PATH, y4m:- (standard input), "
    + "gst:PIPELINE, and of sound pulse[:monitor|mic|DEVICE], tone[:HZ], beep[:HZ]"

  public init(_ text: String) throws(SourceSpecificationError) {
    let colon = text.firstIndex(of: ":")
    let kind = String(text[..<(colon ?? text.endIndex)])
    let argument = colon.map { String(text[text.index(after: $0)...]) }
    switch kind {
    case "screen":
      if argument == "" { throw .missingArgument("screen:", "a display such as screen:0") }
      self = .screen(display: argument.map(Self.displayName))
    case "window":
      guard let argument, let id = Self.windowID(argument) else {
        throw .badWindow(argument ?? "")
      }
      self = .window(id)
    case "test":
      guard let style = TestPatternStyle(rawValue: argument ?? TestPatternStyle.bars.rawValue)
      else { throw .unknownPattern(argument ?? "") }
      self = .test(style)
    case "file":
      guard let argument, !argument.isEmpty else {
        throw .missingArgument("file", "a path such as file:talk.mkv")
      }
      self = .file(path: argument)
    case "y4m":
      guard let argument, !argument.isEmpty else {
        throw .missingArgument("y4m", "a path, or y4m:- for standard input")
      }
      self = .y4m(path: argument == "-" ? nil : argument)
    case "tone": self = .tone(try Self.tone(argument, .steady))
    case "beep": self = .tone(try Self.tone(argument, .everySecond))
    case "pulse":
      if argument == "" {
        throw .missingArgument("pulse:", "monitor, mic or a device that `pactl list sources` names")
      }
      self = .pulse(SoundDevice(argument))
    case "gst":
      guard let argument, argument.contains(where: { !$0.isWhitespace }) else {
        throw .missingArgument("gst", "a pipeline such as 'gst:videotestsrc'")
      }
      self = .pipeline(argument)
    case "camera", "pipewire": throw .notBuilt(kind)
    default: throw .unknown(text)
    }
  }

  /// Whether the capture program with GStreamer must run the source.
  public var needsGStreamer: Bool {
    switch self {
    case .file, .pipeline, .pulse: true
    case .screen, .window, .test, .y4m, .tone: false
    }
  }

  /// The stream that is published if the user names none.
  public var usualStream: String {
    switch self {
    case .screen, .window, .test, .file, .y4m, .pipeline: "screen"
    case .tone: SoundDevice.monitor.usualStream
    case .pulse(let device): device.usualStream
    }
  }

  private static func tone(
    _ argument: String?, _ rhythm: Tone.Rhythm
  ) throws(SourceSpecificationError) -> Tone {
    guard let hertz = argument.map(Double.init) ?? 1_000, Tone.frequencies.contains(hertz) else {
      throw .badFrequency(argument ?? "")
    }
    return Tone(hertz: hertz, rhythm: rhythm)
  }

  /// Parses `0x2a00007`, as `xwininfo` shows it, or the same number in decimal digits.
  private static func windowID(_ text: String) -> UInt32? {
    let id = text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text)
    return id == 0 ? nil : id
  }

  /// `screen:1` and `screen::1` both mean display `:1`; `screen:host:0` means `host:0`.
  private static func displayName(_ argument: String) -> String {
    argument.contains(":") ? argument : ":\(argument)"
  }
}

/// Why a text does not name a source.
public enum SourceSpecificationError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknown(String)
  case unknownPattern(String)
  case missingArgument(String, String)
  case badFrequency(String)
  case badWindow(String)
  case notBuilt(String)

  public var description: String {
    switch self {
    case .unknown(let text):
      "there is no source “\(text)”; sources are \(SourceSpecification.summary)"
    case .unknownPattern(let name):
      "there is no test pattern “\(name)”; patterns are "
        + TestPatternStyle.allCases.map(\.rawValue).joined(separator: ", ")
    case .missingArgument(let kind, let example):
      "the source “\(kind)” needs \(example)"
    case .badFrequency(let text):
      "“\(text)” is not a frequency; give \(Int(Tone.frequencies.lowerBound)) to "
        + "\(Int(Tone.frequencies.upperBound)) Hz, such as tone:1000"
    case .badWindow(let text):
      "“\(text)” is not a window ID; click on a window after `xwininfo` to see its ID, such as "
        + "window:0x2a00007"
    case .notBuilt(let kind):
      "this version has no source “\(kind)”; sources are \(SourceSpecification.summary)"
    }
  }
}
