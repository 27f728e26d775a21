import ArgumentParser
import Capture
import CaptureWayland
import CaptureX11
import CommandLineSupport
import FrameBus
import Platform

/// `framebus windows [WINDOW]`.
struct ListWindows: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "windows", abstract: "List the windows that can be captured.")

  @OptionGroup var choice: WindowOptions
  @OptionGroup var global: GlobalOptions

  #if Media
    func run() throws {
      let terminal = global.terminal
      let selector = try choice.selector()
      if selector == nil, X11Display.isOfWaylandSession, let windows = try WaylandWindow.all() {
        return try show(windows.map(WindowReport.init), "the compositor has no windows")
      }
      let display = try X11Display()
      let windows =
        if let selector {
          [try display.window(selector) { terminal.reportPick() }]
        } else {
          try display.windows()
        }
      if try display.belongsToWayland() {
        terminal.report("this is a Wayland session: only the windows of X11 programs are listed")
      }
      try show(windows.map(WindowReport.init), "the X display \(display.name) has no windows")
    }

    private func show(_ windows: [WindowReport], _ nothing: String) throws {
      if global.json { return try global.terminal.printJSON(windows) }
      if windows.isEmpty { return global.terminal.report(nothing) }
      var table = TextTable(["title", "program", "process", "size", "state", "source"])
      for window in windows { table.add(window.cells) }
      for line in table.lines { try global.terminal.print(line) }
    }
  #else
    func run() throws { throw NoMedia(source: "window") }
  #endif
}

/// `framebus screens`.
struct ListScreens: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "screens", abstract: "List the screens that can be captured.")

  @OptionGroup var global: GlobalOptions

  #if Media
    func run() throws {
      let screens =
        if X11Display.isOfWaylandSession {
          try WaylandOutput.all().map(ScreenReport.init)
        } else {
          try X11Display().screens().map(ScreenReport.init)
        }
      if global.json { return try global.terminal.printJSON(screens) }
      var table = TextTable(["name", "size", "rate", "state", "source"])
      for screen in screens { table.add(screen.cells) }
      for line in table.lines { try global.terminal.print(line) }
    }
  #else
    func run() throws { throw NoMedia(source: "screen") }
  #endif
}

#if Media
  extension X11Display {
    /// Whether the screen is a Wayland compositor's. An X server may have a screen of its own
    /// beside it, and is then captured.
    static var isOfWaylandSession: Bool {
      if WaylandSocket.path() == nil { return false }
      if environmentValue("DISPLAY") == nil { return true }
      return (try? X11Display().belongsToWayland()) ?? true
    }
  }

  extension Terminal {
    /// Tells the user to click on a window.
    func reportPick() {
      report("click on the window to capture; Escape or a right click cancels")
    }
  }

  /// A window as JSON. The names are a contract.
  private struct WindowReport: Encodable {
    let id: String
    /// As `framebus capture` takes it.
    let source: String
    let title: String
    let program: String
    /// The program's own name, where it differs from that of its kind.
    let instance: String
    let pid: Int32?
    let process: String?
    /// Nil for a window of a Wayland compositor, and so are the next five.
    let x: Int?
    let y: Int?
    let width: Int?
    let height: Int?
    let isShown: Bool?
    let isFront: Bool?

    private enum CodingKeys: CodingKey {
      case id, source, title, program, instance, pid, process, x, y, width, height, isShown, isFront
    }

    private let cellTitle: String

    init(_ window: ListedWindow) {
      id = "\(WindowSelector.id(window.id))"
      source = "window:\(id)"
      title = window.title
      cellTitle = window.shortTitle
      program = window.programs.last ?? ""
      instance = window.programs.first ?? ""
      pid = window.processID
      process = window.process
      x = window.area.x
      y = window.area.y
      width = window.area.width
      height = window.area.height
      isShown = window.isShown
      isFront = window.isFront
    }

    init(_ window: WaylandWindow) {
      id = window.id
      source = "\(SourceSpecification.waylandWindow(id: window.id))"
      title = window.title
      cellTitle = window.title
      program = window.program
      instance = window.program
      (pid, process, isShown, isFront) = (nil, nil, nil, nil)
      (x, y, width, height) = (nil, nil, nil, nil)
    }

    private var size: String {
      guard let x, let y, let width, let height else { return "" }
      return "\(width)x\(height)+\(x)+\(y)"
    }

    private var state: String {
      isFront == true ? "front" : isShown.map { $0 ? "shown" : "hidden" } ?? ""
    }

    var cells: [String] {
      [
        cellTitle, program, pid.map { "\(process ?? "") \($0)" } ?? "",
        size, state, source,
      ].map(\.plain)
    }
  }

  /// A monitor as JSON. The names are a contract.
  private struct ScreenReport: Encodable {
    /// As `framebus capture` takes it.
    let source: String
    /// As its option `--size` takes it; nil for the whole source.
    let size: String?
    let name: String
    let x: Int
    let y: Int
    let width: Int
    let height: Int
    let refreshHz: Double?
    let isPrimary: Bool

    init(_ screen: ListedScreen) {
      let area = screen.area
      source = screen.source
      size = screen.isPart ? "\(area.width)x\(area.height)+\(area.x)+\(area.y)" : nil
      name = screen.name
      x = area.x
      y = area.y
      width = area.width
      height = area.height
      refreshHz = screen.refreshHz.map { ($0 * 100).rounded() / 100 }
      isPrimary = screen.isPrimary
    }

    init(_ output: WaylandOutput) {
      source = "\(SourceSpecification.wayland(output: output.name))"
      size = nil
      name = output.name
      (x, y, width, height) = (output.x, output.y, output.width, output.height)
      refreshHz = output.refreshHz
      isPrimary = false
    }

    var cells: [String] {
      [
        name, "\(width)x\(height)+\(x)+\(y)", refreshHz.map { "\($0.text(places: 2)) Hz" } ?? "",
        isPrimary ? "primary" : "", source + (size.map { " --size \($0)" } ?? ""),
      ].map(\.plain)
    }
  }
#endif
