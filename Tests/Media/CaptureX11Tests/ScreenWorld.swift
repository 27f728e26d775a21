import AppGroup
import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport

/// An X server of its own, a group, and the program that captures the screen into the group.
struct ScreenWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let screen: VirtualScreen
  let stream: StreamName

  init(width: Int = 320, height: Int = 240, depth: Int = 24, options: [String] = []) throws {
    try self.init(VirtualScreen(width: width, height: height, depth: depth, options: options))
  }

  init(_ screen: VirtualScreen) throws {
    self.screen = screen
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
    stream = try StreamName("screen")
  }

  /// Starts `framebus-capture` on the screen.
  func capture(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try capture(arguments, window: nil, environment: environment)
  }

  /// Starts it on a window that is named otherwise.
  func capture(source: String, _ arguments: String...) throws -> RunningProgram {
    try capture(source: source, arguments)
  }

  func capture(source: String, _ arguments: [String]) throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture",
      [source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: screen.environment)
  }

  /// Starts it on a window; nil for the whole screen.
  func capture(
    _ arguments: [String], window: ShownWindow?, environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    let source = window.map { "window:\($0.id)" } ?? "screen:\(screen.display)"
    return try RunningProgram(
      "framebus-capture",
      [source, "--root", root.path, "--group", "org.example.test"] + arguments,
      environment: screen.environment.merging(environment) { _, new in new })
  }

  func subscriber(
    start: StartingPoint = .newest, onEvent: (@Sendable (StreamEvent) -> Void)? = nil
  ) throws -> Subscriber {
    var options = SubscriberOptions()
    options.start = start
    options.onEvent = onEvent
    return try Subscriber(
      stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(30)))
  }

  /// The screen as an independent program captures it: rows of B, G, R, x.
  func independentGrab(width: Int, height: Int) throws -> [UInt8] {
    let path = root.file("grab.raw")
    try output(
      of: "ffmpeg",
      [
        "-loglevel", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
        "\(width)x\(height)", "-i", screen.display, "-frames:v", "1", "-f", "rawvideo",
        "-pix_fmt", "bgr0", path,
      ])
    return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Paints the whole screen in one colour, such as `#12ab34`.
  func paint(_ color: String) throws {
    try output(of: "xsetroot", ["-display", screen.display, "-solid", color])
  }

  /// Resizes the screen by RANDR. Without a monitor (CRTC) any size up to the first is possible;
  /// xrandr(1) cannot do it, because the screen has no physical size.
  func resize(width: Int, height: Int) throws {
    let script = """
      from Xlib import display
      d = display.Display("\(screen.display)")
      root = d.screen().root
      resources = root.xrandr_get_screen_resources()
      for crtc in resources.crtcs:
        d.xrandr_set_crtc_config(crtc, resources.config_timestamp, 0, 0, 0, 1, [])
      root.xrandr_set_screen_size(\(width), \(height), 100, 100)
      d.sync()
      """
    try output(of: "/usr/bin/python3", ["-c", script])
  }

  /// Gives a window a wide border and removes it, many times.
  func changeBorders(of window: ShownWindow) throws {
    let script = """
      from Xlib import display
      d = display.Display("\(screen.display)")
      window = d.create_resource_object("window", \(window.id))
      for step in range(500):
        window.configure(border_width=(400, 0)[step % 2])
        d.sync()
      """
    try output(of: "/usr/bin/python3", ["-c", script])
  }

  /// Creates an input-only window.
  /// - Returns: its ID.
  func makeInputWindow() throws -> String {
    let script = """
      from Xlib import X, display
      d = display.Display("\(screen.display)")
      window = d.screen().root.create_window(0, 0, 60, 40, 0, 0, X.InputOnly, X.CopyFromParent)
      window.map()
      d.set_close_down_mode(X.RetainPermanent)
      d.sync()
      print(hex(window.id), end="")
      """
    return try output(of: "/usr/bin/python3", ["-c", script])
  }

  /// Clicks as a user does (XTEST).
  func click(x: Int, y: Int, button: Int = 1) throws {
    try performInput(
      """
      xtest.fake_input(d, X.MotionNotify, x=\(x), y=\(y))
      xtest.fake_input(d, X.ButtonPress, \(button))
      xtest.fake_input(d, X.ButtonRelease, \(button))
      """)
  }

  /// Presses and releases a key, such as `Escape`.
  func press(_ key: String) throws {
    try performInput(
      """
      key = d.keysym_to_keycode(XK.string_to_keysym("\(key)"))
      xtest.fake_input(d, X.KeyPress, key)
      xtest.fake_input(d, X.KeyRelease, key)
      """)
  }

  private func performInput(_ steps: String) throws {
    let script = """
      from Xlib import X, XK, display
      from Xlib.ext import xtest
      d = display.Display("\(screen.display)")
      \(steps)
      d.sync()
      """
    try output(of: "/usr/bin/python3", ["-c", script])
  }

  /// Where a window lies on the screen, and the window manager's frame around it.
  func frame(of window: ShownWindow) throws -> (y: Int, clientX: Int, clientY: Int) {
    let script = """
      from Xlib import display
      d = display.Display("\(screen.display)")
      root = d.screen().root
      window = d.create_resource_object("window", \(window.id))
      place = root.translate_coords(window, 0, 0)
      frame = window
      while frame.query_tree().parent != root:
        frame = frame.query_tree().parent
      print(frame.get_geometry().y, place.x, place.y)
      """
    let words = try output(of: "/usr/bin/python3", ["-c", script])
      .split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard words.count == 3 else { throw HarnessError("no place of \(window.id): \(words)") }
    return (words[0], words[1], words[2])
  }

  func movePointer(x: Int, y: Int) throws {
    let script = """
      from Xlib import display
      d = display.Display("\(screen.display)")
      d.screen().root.warp_pointer(\(x), \(y))
      d.sync()
      """
    try output(of: "/usr/bin/python3", ["-c", script])
  }
}

/// A frame, copied from its lease.
struct TakenFrame {
  let width: Int
  let height: Int
  let orientation: Orientation
  let damage: DamageRegion
  private(set) var bytes: [UInt8]

  init(_ lease: borrowing FrameLease) {
    width = lease.format.width
    height = lease.format.height
    orientation = lease.metadata.orientation
    damage = lease.damage
    // SAFETY: the bytes are copied while the lease lives.
    bytes = unsafe lease.withUnsafeBytes { unsafe Array($0) }
  }

  /// Copies a region from a picture of the same size.
  mutating func redraw(_ region: DamageRegion, from other: TakenFrame) {
    let everything = PixelRect(x: 0, y: 0, width: width, height: height)
    for rect in region.isFull ? [everything] : region.rects {
      for y in rect.y..<(rect.y + rect.height) {
        let start = (y * width + rect.x) * 4
        let row = start..<(start + rect.width * 4)
        bytes.replaceSubrange(row, with: other.bytes[row])
      }
    }
  }

  /// The pixel as 0xRRGGBB.
  func pixel(_ x: Int, _ y: Int) -> UInt32 { rgb(bytes, (y * width + x) * 4) }

  /// The positions where the colours differ from another picture of the same size.
  func differences(from other: [UInt8]) -> [(x: Int, y: Int)] {
    (0..<width * height).filter { rgb(bytes, $0 * 4) != rgb(other, $0 * 4) }
      .map { ($0 % width, $0 / width) }
  }
}

/// The colour of a ``ShownWindow``.
let magenta: UInt32 = 0xFF00FF

extension TakenFrame {
  func count(of color: UInt32) -> Int {
    countPixels(of: color, in: bytes)
  }

  var magentaCount: Int { count(of: magenta) }

  /// Whether it has no other colours.
  func shows(only colors: Set<UInt32>) -> Bool { strange(to: colors) == nil }

  /// A colour that is not among some.
  func strange(to colors: Set<UInt32>) -> UInt32? {
    firstPixel(in: bytes, otherThan: colors)
  }
}

private func rgb(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
  UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
}

extension Subscriber {
  /// The next frame; nil if none arrived in time or the stream ended.
  mutating func take(within limit: Duration = .seconds(30)) throws -> TakenFrame? {
    switch try next(until: .after(limit)) {
    case .frame(let lease): TakenFrame(lease)
    default: nil
    }
  }

  /// How the stream ends, after any remaining frames.
  mutating func end() throws -> FinishReason {
    while true {
      switch try next(until: .after(.seconds(60))) {
      case .finished(let reason): return reason
      case .frame: continue
      default: throw HarnessError("the stream does not end")
      }
    }
  }

  /// Receives frames until one matches; the watchdog is the deadline.
  mutating func take(where isWanted: (TakenFrame) -> Bool) throws -> TakenFrame {
    let deadline = Deadline.after(.seconds(60))
    while !deadline.isPast {
      guard let frame = try take() else { break }
      if isWanted(frame) { return frame }
    }
    throw HarnessError("no such frame came")
  }
}

/// A subscriber's events.
final class StreamEvents: Sendable {
  private let list = Mutex<[StreamEvent]>([])

  func add(_ event: StreamEvent) { list.withLock { $0.append(event) } }
  var all: [StreamEvent] { list.withLock { $0 } }
  var ofPauses: [StreamEvent] {
    all.filter { event in if case .annotated = event { false } else { true } }
  }

  /// Events are reported on the receiving thread, so this has to receive.
  func wait(for event: StreamEvent, _ receive: (Duration) throws -> Void) throws {
    let deadline = Deadline.after(.seconds(60))
    while !all.contains(event) {
      if deadline.isPast { throw HarnessError("\(event) is not told, only \(all)") }
      try receive(.milliseconds(20))
    }
  }
}
