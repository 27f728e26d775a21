import FrameBus
import Platform
import Sound

/// The options of a capture besides its source and its streams. A user sets them on a command line,
/// an application in a request, an extension in its manifest. Nil leaves the choice to the capture.
public struct CaptureSettings: Hashable, Sendable {
  /// The most frames per second.
  public var frameRate: FrameRate?
  /// The size of a test pattern, or the captured part of a screen.
  public var region: PixelRect?
  /// The windows that no frame shows.
  public var protection: WindowProtection?
  /// The orientation in the metadata of the frames.
  public var orientation: Orientation?
  /// Whether the pointer is drawn.
  public var drawsCursor: Bool?
  /// Whether X clients are kept out of the pool, at one copy per frame.
  public var isIsolated: Bool?
  /// How pixels reach this machine.
  public var backend: Backend?
  /// What to do while the screen saver is on.
  public var whileSaver: SaverPolicy?
  /// Whether to capture an X screen that belongs to a Wayland session.
  public var allowsWayland: Bool?
  /// What the pictures show, of a source that does not know it; nil for what the capture finds out.
  public var content: StreamContent?
  /// The format of a camera's pictures, such as `yuyv`, as `framebus cameras` lists it.
  public var pixelFormat: String?
  /// Controls of a camera to set, in this order, such as `exposure_time_absolute=200`.
  public var controls: [String]?
  /// The credential with the secret of another machine, as SERVICE/ACCOUNT.
  public var secret: String?
  /// How many silent chunks of 10 ms in a row are published; 0 for no limit.
  public var silenceLimit: Int?

  /// How pixels reach this machine: by shared memory, or through the socket of the X server. The
  /// capture chooses with `auto`, which is the default.
  public enum Backend: String, Hashable, Sendable, CaseIterable {
    /// Shared memory where the X server supports it.
    case auto
    /// Shared memory, or an error.
    case shm
    /// The socket of the X server, with copies.
    case socket
  }

  /// Everything is left to the capture.
  public init() {}

  /// An option that has one value, by its name on a command line and in a session's record.
  /// Protection is not one of them: it is a list, and merges in another way.
  public enum Option: String, Hashable, Sendable, CaseIterable {
    /// The option of this name.
    case fps, size, orientation, cursor, isolate, backend, force, silence, content, format
    /// A control of a camera.
    case control
    /// The credential of the source.
    case secret
    /// What to do while the screen saver is on.
    case whileSaver = "while-saver"

    /// The value without the option, as text; nil if it depends on the source, or on a broadcast.
    package var usualText: String? {
      switch self {
      case .fps, .size, .whileSaver, .content, .format, .control, .secret: nil
      case .orientation: "\(Orientation.up.rawValue)"
      case .cursor: "true"
      case .isolate, .force: "false"
      case .backend: Backend.auto.rawValue
      case .silence: "\(SilenceGate.usualLimit)"
      }
    }

    var isFlag: Bool { self == .cursor || self == .isolate || self == .force }
  }

  /// The value of an option as text; nil if it is not set.
  public func text(of option: Option) -> String? {
    switch option {
    case .fps: frameRate?.text
    case .size: region?.text
    case .orientation: orientation.map { "\($0.rawValue)" }
    case .cursor: drawsCursor.map { "\($0)" }
    case .isolate: isIsolated.map { "\($0)" }
    case .backend: backend?.rawValue
    case .force: allowsWayland.map { "\($0)" }
    case .silence: silenceLimit.map { "\($0)" }
    case .whileSaver: whileSaver?.rawValue
    case .content: content?.description
    case .format: pixelFormat
    case .control: controls?.joined(separator: ",")
    case .secret: secret
    }
  }

  /// Sets an option from its text.
  public mutating func set(_ option: Option, _ text: String) throws(CaptureOptionError) {
    switch option {
    case .fps: frameRate = try parseFrameRate(text)
    case .size: region = try parseSize(text)
    case .orientation:
      orientation = try option.value(UInt8(text).flatMap(Orientation.init), text, "1 to 8")
    case .cursor: drawsCursor = try option.value(Bool(text), text, "true or false")
    case .isolate: isIsolated = try option.value(Bool(text), text, "true or false")
    case .backend: backend = try option.value(Backend(rawValue: text), text, "auto, shm or socket")
    case .force: allowsWayland = try option.value(Bool(text), text, "true or false")
    case .silence:
      silenceLimit = try option.value(
        Int(text).flatMap { $0 < 0 ? nil : $0 }, text, "0 or more")
    case .whileSaver:
      whileSaver = try option.value(
        SaverPolicy(rawValue: text), text, "pause, capture or inhibit")
    case .content:
      content = try option.value(
        StreamContent.allCases.first { $0.description == text }, text, "screen, window or other")
    case .format:
      let isName = !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      pixelFormat = try option.value(
        isName ? text.lowercased() : nil, text, "a format that `framebus cameras` lists")
    case .control:
      let controls = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let areSettings = controls.allSatisfy { control in
        control.split(separator: "=", omittingEmptySubsequences: false).count { !$0.isEmpty } == 2
          && control.count { $0 == "=" } == 1
      }
      self.controls = try option.value(
        areSettings ? controls : nil, text, "NAME=VALUE, such as brightness=128")
    case .secret:
      let isName = text.split(separator: "/").count > 1 && !text.hasSuffix("/") && text.isPlain
      secret = try option.value(isName ? text : nil, text, "a credential as SERVICE/ACCOUNT")
    }
  }

  /// The same without the options that are not listed.
  package func limited(to options: Set<Option>) -> CaptureSettings {
    var limited = self
    for option in Option.allCases where !options.contains(option) { limited.remove(option) }
    return limited
  }

  private mutating func remove(_ option: Option) {
    switch option {
    case .fps: frameRate = nil
    case .size: region = nil
    case .orientation: orientation = nil
    case .cursor: drawsCursor = nil
    case .isolate: isIsolated = nil
    case .backend: backend = nil
    case .force: allowsWayland = nil
    case .silence: silenceLimit = nil
    case .whileSaver: whileSaver = nil
    case .content: content = nil
    case .format: pixelFormat = nil
    case .control: controls = nil
    case .secret: secret = nil
    }
  }

  /// The gate that limits how long silence is published.
  public var silenceGate: SilenceGate {
    SilenceGate(limit: silenceLimit.map { $0 == 0 ? nil : $0 } ?? SilenceGate.usualLimit)
  }

  /// Throws if two of the options exclude each other.
  public func check() throws(CaptureOptionError) {
    if isIsolated == true, backend == .socket { throw .isolatedSocket }
  }

  /// The command line of these settings. A capture program parses it to the same settings.
  public var arguments: [String] {
    let options = Option.allCases.compactMap { option -> String? in
      guard let text = text(of: option) else { return nil }
      if !option.isFlag { return "--\(option.rawValue)=\(text)" }
      return text == "true" ? "--\(option.rawValue)" : "--no-\(option.rawValue)"
    }
    return options + (protection?.arguments ?? [])
  }

  /// These settings, completed by an extension's preferences. A preference yields to an option that
  /// is set here, and only adds to the windows that no frame shows.
  public func completed(by preferences: CaptureSettings) -> CaptureSettings {
    var all = self
    all.frameRate = frameRate ?? preferences.frameRate
    all.region = region ?? preferences.region
    all.orientation = orientation ?? preferences.orientation
    all.drawsCursor = drawsCursor ?? preferences.drawsCursor
    all.isIsolated = isIsolated ?? (backend == .socket ? nil : preferences.isIsolated)
    all.backend = backend ?? (all.isIsolated == true ? nil : preferences.backend)
    all.allowsWayland = allowsWayland ?? preferences.allowsWayland
    all.whileSaver = whileSaver ?? preferences.whileSaver
    all.silenceLimit = silenceLimit ?? preferences.silenceLimit
    all.content = content ?? preferences.content
    all.pixelFormat = pixelFormat ?? preferences.pixelFormat
    all.controls = controls ?? preferences.controls
    all.secret = secret ?? preferences.secret
    if case .on(let rules)? = preferences.protection { all.protection.add(rules) }
    return all
  }
}

extension CaptureSettings.Option {
  fileprivate func value<Value>(
    _ value: Value?, _ text: String, _ use: String
  ) throws(CaptureOptionError) -> Value {
    guard let value else { throw .badValue(self, text, use: use) }
    return value
  }
}

extension FrameRate {
  /// Such as `30` or `30000/1001`.
  fileprivate var text: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

extension PixelRect {
  /// Such as `640x480` or `640x480+10+20`.
  fileprivate var text: String { "\(width)x\(height)" + (x == 0 && y == 0 ? "" : "+\(x)+\(y)") }
}
