import ArgumentParser
import Capture

/// The options of a capture that `framebus capture` and `framebus broadcast start` share.
public struct CaptureSettingOptions: ParsableArguments {
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
      discussion: """
        For a screen, the part to capture: WxH[+X+Y]; for a camera, one of its sizes; for hls:, \
        the largest rendition.
        """,
      valueName: "WxH"))
  public var sizeText: String?

  @Option(
    help: ArgumentHelp(
      "Black out windows of a program, or one window by its ID.",
      discussion: """
        The program is named as by `xprop WM_CLASS`, the ID as by `xwininfo`: 0x2a00007, or \
        44040199 in decimal digits; a name of this form is always an ID. Windows with the X \
        property _FRAMEBUS_PROTECTED are black too; “marked” selects only those. Their frames, \
        menus, tooltips and dialogs are black with them. Costs one copy per frame. A broadcast \
        protects marked windows without this option.
        """,
      valueName: "window"))
  public var protect: [String] = []

  @Flag(help: "Show every window, even a marked one.")
  public var noProtect = false

  @Option(
    name: .customLong("orientation"),
    help: ArgumentHelp(
      "Orientation of the picture, 1 to 8 as in EXIF.",
      discussion: "For a screen or test pattern; 1, the default, is upright.",
      valueName: "n"))
  public var orientationText: String?

  @Flag(inversion: .prefixedNo, help: "Draw the mouse cursor (the default), or omit it.")
  public var cursor: Bool?

  @Flag(inversion: .prefixedNo, help: "Keep X clients out of the pool, at one copy per frame.")
  public var isolate: Bool?

  @Option(
    name: .customLong("backend"),
    help: ArgumentHelp(
      "Transfer of screen pixels: auto (the default), shm or socket.",
      discussion: """
        With shm the X server writes into the slot; socket is slower and works with remote \
        displays; auto uses shm where the server can share memory.
        """,
      valueName: "backend"))
  public var backendText: String?

  @Flag(
    inversion: .prefixedNo,
    help: "Capture an X screen even if it belongs to a Wayland session.")
  public var force: Bool?

  @Option(
    name: .customLong("while-saver"),
    help: ArgumentHelp(
      "While the screen saver is on: pause, capture or inhibit.",
      discussion: """
        pause publishes nothing, capture what the screen shows; inhibit keeps the X server's \
        saver off while there are subscribers. The default is pause, and inhibit in a broadcast, \
        which lasts until its end and asks the desktop too (org.freedesktop.ScreenSaver). Without \
        a broadcast, a desktop's locker keeps its own timer. A screen without a monitor (Xvfb) is \
        captured while it is blank.
        """,
      valueName: "policy"))
  public var whileSaverText: String?

  @Option(
    name: .customLong("content"),
    help: ArgumentHelp(
      "What the pictures show: screen, window or other.",
      discussion: """
        For a pipeline or raw video. The default is screen for a pipeline with an element that \
        captures one, such as ximagesrc or pipewiresrc, else other. A screen or window counts for \
        the notification framebus.captured.
        """,
      valueName: "content"))
  public var contentText: String?

  @Option(
    name: .customLong("format"),
    help: ArgumentHelp(
      "Format of a camera's pictures, such as yuyv or mjpeg.",
      discussion: "One that `framebus cameras` lists. The default needs no decoder if possible.",
      valueName: "format"))
  public var formatText: String?

  @Option(
    name: .customLong("control"),
    help: ArgumentHelp(
      "Set a control of a camera; repeatable.",
      discussion: """
        `framebus cameras` lists the controls and their values. They stay set after the capture.
        """,
      valueName: "name=value"))
  public var controlTexts: [String] = []

  @Option(
    name: .customLong("secret"),
    help: ArgumentHelp(
      "Credential that contains the secret of another machine.",
      discussion: """
        It is \(SourceKind.secrets). The account of a password's credential is the user. \
        `framebus capture` opens it in the role of --role (default: capture); in a broadcast the \
        host hands it over.
        """,
      valueName: "service/account"))
  public var secretText: String?

  @Option(
    name: .customLong("silence"),
    help: ArgumentHelp(
      "Suppress silence after N sound frames of 10 ms.",
      discussion: "The default is 800; 0 disables it.", valueName: "n"))
  public var silenceText: String?

  public init() {}

  public func validate() throws {
    do { _ = try settings() } catch {
      // Errors that begin with an option's name lack its hyphens.
      let isNamed =
        switch error {
        case .badRate, .badSize: false
        default: true
        }
      throw ValidationError(isNamed ? "--\(error)" : "\(error)")
    }
    if noProtect, !protect.isEmpty {
      throw ValidationError("--no-protect shows what --protect hides; remove one of the two")
    }
  }

  /// The checked settings.
  public func settings() throws(CaptureOptionError) -> CaptureSettings {
    var settings = CaptureSettings()
    let texts: [(CaptureSettings.Option, String?)] = [
      (.fps, fpsText), (.size, sizeText), (.orientation, orientationText),
      (.cursor, cursor.map { "\($0)" }), (.isolate, isolate.map { "\($0)" }),
      (.backend, backendText), (.force, force.map { "\($0)" }), (.silence, silenceText),
      (.whileSaver, whileSaverText), (.content, contentText), (.format, formatText),
      (.control, controlTexts.isEmpty ? nil : controlTexts.joined(separator: ",")),
      (.secret, secretText),
    ]
    for case (let option, let text?) in texts { try settings.set(option, text) }
    let rules = try WindowRule.list(protect)
    if noProtect {
      settings.protection = .off
    } else if !rules.isEmpty {
      settings.protection = .on(rules.filter { $0 != .marked })
    }
    try settings.check()
    return settings
  }
}
