import FrameBus
import Sound

/// A source as the command line names it: `screen:1`, `file:talk.mkv`, `y4m:-`.
public enum SourceSpecification: Hashable, Sendable, CustomStringConvertible {
  /// An X11 screen; nil for the display that `DISPLAY` names.
  case screen(display: String?)
  /// An output of the compositor that `WAYLAND_DISPLAY` names; nil for the first.
  case wayland(output: String?)
  /// A window of that compositor, by the compositor's identifier.
  case waylandWindow(id: String)
  /// A window of the display that `DISPLAY` names.
  case window(WindowSelector)
  /// What the user chooses in the dialog of the desktop's portal.
  case portal(PortalPicture)
  /// A test pattern.
  case test(TestPatternStyle)
  /// Any file or address that GStreamer can decode.
  case file(path: String)
  /// Uncompressed video (YUV4MPEG2); nil for standard input.
  case y4m(path: String?)
  /// A camera, by its path or its name; nil for the first one.
  case camera(String?)
  /// A test tone.
  case tone(Tone)
  /// A device of a PulseAudio or PipeWire server.
  case pulse(SoundDevice)
  /// The sound of a node of a PipeWire server, by its name.
  case pipeWire(node: String)
  /// A GStreamer pipeline without its sink.
  case pipeline(String)
  /// A stream of another machine.
  case network(SourceAddress)
  /// The frames that an application of the group publishes.
  case stream(StreamName)

  /// The available sources, as errors list them.
  static let summary = SourceKind.all.map(\.form).joined(separator: ", ")

  /// Parses a source as a user names it, such as `screen:1`.
  public init(_ text: String) throws(SourceSpecificationError) {
    let colon = text.firstIndex(of: ":")
    let name = text[..<(colon ?? text.endIndex)]
    guard let kind = SourceKind.all.first(where: { $0.name == name }) else {
      throw .unknown(text)
    }
    self = try kind.parse(colon.map { String(text[text.index(after: $0)...]) })
  }

  /// Its row.
  public var kind: SourceKind {
    switch self {
    case .screen: .screen
    case .wayland: .wayland
    case .waylandWindow: .waylandWindow
    case .window: .window
    case .portal: .portal
    case .test: .test
    case .file: .file
    case .y4m: .y4m
    case .camera: .camera
    case .pipeline: .gst
    case .pipeWire: .pipeWire
    case .network(let address): .networks.first { $0.name == address.scheme } ?? .networks[0]
    case .pulse: .pulse
    case .tone(let tone): tone.rhythm == .steady ? .tone : .beep
    case .stream: .stream
    }
  }

  /// As the command line names it.
  public var description: String {
    let argument: String? =
      switch self {
      case .screen(let display): display
      case .wayland(let output): output
      case .waylandWindow(let id): id
      case .window(let selector): "\(selector)"
      case .portal(let picture): picture == .monitor ? nil : picture.text
      case .test(let style): style.rawValue
      case .file(let path): path
      case .y4m(let path): path ?? "-"
      case .camera(let name): name
      case .tone(let tone): "\(tone.hertz)"
      case .pulse(let device): device.text
      case .pipeWire(let node): node
      case .pipeline(let text): text
      case .network(let address): String(address.text.dropFirst(address.scheme.count + 1))
      case .stream(let name): name.text
      }
    return kind.name + (argument.map { ":\($0)" } ?? "")
  }

  /// The display that it names; nil for none.
  public var display: String? {
    if case .screen(let display) = self { display } else { nil }
  }

  /// The file or device that it reads; nil if it names none.
  public var path: String? {
    switch self {
    case .file(let path): path
    case .y4m(let path): path
    case .camera(let name): name.flatMap { $0.hasPrefix("/") ? $0 : nil }
    case .screen, .wayland, .waylandWindow, .window, .portal, .pipeWire: nil
    case .test, .tone, .pulse, .pipeline, .network, .stream: nil
    }
  }

  /// The stream that is published if the user names none.
  public var usualStream: String {
    switch self {
    case .pulse(let device): device.usualStream
    case .stream(let name): name.text
    default: kind.usualStream
    }
  }
}

/// Why a text does not name a source.
public enum SourceSpecificationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No source begins so.
  case unknown(String)
  /// There is no such test pattern.
  case unknownPattern(String)
  /// What must follow the colon is missing.
  case missingArgument(String, String)
  /// The text is not a frequency.
  case badFrequency(String)
  /// The text names no window.
  case badWindow(String)
  /// The portal has no such choice.
  case badPicture(String)
  /// The name of the stream is malformed.
  case badStream(StreamNameError)
  /// A secret in an address would be seen by every process of the machine.
  case secretInAddress(String)
  /// An application publishes the source, so no capture program can.
  case notCaptured(StreamName)

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
      "“\(text)” is not a window ID; `framebus windows` lists the IDs, such as window:0x2a00007"
    case .badPicture(let text):
      "the portal has no pictures of “\(text)”; use "
        + PortalPicture.allCases.map { "portal:\($0.text)" }.joined(separator: ", ")
    case .badStream(let error): "\(error)"
    case .secretInAddress(let kind):
      "the address of \(kind): has a secret, which other processes can see; store it with "
        + "`framebus credential set --recipient capture` and name it with --secret"
    case .notCaptured(let stream):
      "an application publishes the stream “\(stream)”, so there is nothing to capture; broadcast"
        + " it with `framebus broadcast start EXTENSION --source stream:\(stream)`, or upload it"
        + " with `framebus upload DESTINATION --stream \(stream)`"
    }
  }
}
