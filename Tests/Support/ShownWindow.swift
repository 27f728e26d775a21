import Foundation
import Platform

/// A window of one colour, shown by an independent client (Tests/Tools/show_window.py).
package final class ShownWindow {
  private let program: RunningProgram
  private let input: Descriptor
  package let name: String
  /// The window ID, in the format of `xwininfo`.
  package let id: String

  /// - Parameters:
  ///   - name: window class.
  ///   - geometry: such as `60x40+20+30`.
  ///   - color: such as `ff00ff`.
  ///   - isMarked: whether it asks for protection before it is shown.
  package init(
    _ name: String, _ geometry: String, color: String = "ff00ff", isMarked: Bool = false,
    on screen: VirtualScreen
  ) throws {
    let pipe = try OneWayPipe()
    self.name = name
    program = try RunningProgram(
      "/usr/bin/python3",
      [tool("show_window.py"), name, color, geometry] + (isMarked ? ["marked"] : []),
      environment: screen.environment, input: .descriptor(pipe.readEnd.number))
    input = pipe.takeWriteEnd()
    try program.waitForOutput("\n")
    id = String(program.output.text.prefix { $0 != "\n" })
  }

  /// Sends a command to the client and waits until the X server has executed it.
  /// - Returns: the client's answer.
  @discardableResult
  package func perform(_ command: String) throws -> String {
    let answers = program.output.text.split(separator: "\n").count
    try send(command)
    try waitUntil("the window's client answers") {
      let text = program.output.text
      return text.hasSuffix("\n") && text.split(separator: "\n").count > answers
    }
    return program.output.text.split(separator: "\n").last.map(String.init) ?? ""
  }

  package func setTitle(_ title: String) throws {
    let digits = title.utf8.map { String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
    try perform("property _NET_WM_NAME \(digits)")
  }

  /// The client's.
  package var processID: Int32 { program.processID }

  /// Ends the client, which closes the window.
  package func close() throws {
    try send("quit")
    try program.finish()
  }

  private func send(_ command: String) throws {
    try writeFully(Array((command + "\n").utf8), to: input.number)
  }
}

/// A window manager, and a user who switches between windows.
package struct Desktop {
  private let screen: VirtualScreen
  private let manager: RunningProgram

  package init(on screen: VirtualScreen) throws {
    self.screen = screen
    manager = try screen.show(
      "openbox", ["--sm-disable", "--config-file", "/etc/xdg/openbox/rc.xml"])
    try waitUntil("the window manager is running") {
      try wmctrl("-m").status.isSuccess
    }
  }

  /// Activates a window, until it is: the manager ignores a request for a window that it does not
  /// manage yet, which wmctrl does not report.
  package func bringToFront(_ window: ShownWindow) throws {
    let id = UInt32(window.id.dropFirst(2), radix: 16)
    try waitUntil("\(window.id) is active") {
      guard try wmctrl("-i", "-a", window.id).status.isSuccess else { return false }
      let answer = try screen.show("xprop", ["-root", "_NET_ACTIVE_WINDOW"]).finish().output
      let active = answer.firstMatch(of: /# 0x([0-9a-f]+)/)?.output.1
      return active.flatMap { UInt32($0, radix: 16) } == id
    }
  }

  private func wmctrl(_ arguments: String...) throws -> ProgramResult {
    try screen.show("wmctrl", arguments).finish()
  }
}

/// A compositor, which fades windows in and out, each for half a second.
package struct Compositor {
  private let program: RunningProgram

  package init(on screen: VirtualScreen) throws {
    program = try screen.show(
      "picom",
      [
        "--config", "/dev/null", "--backend", "xrender", "--fading", "--fade-in-step", "0.02",
        "--fade-out-step", "0.02",
      ])
    try waitUntil("the compositor is running") {
      // It owns this selection (EWMH, "Compositing Managers").
      let answer = try output(
        of: "/usr/bin/python3",
        [
          "-c",
          """
          from Xlib import display
          d = display.Display("\(screen.display)")
          print(int(d.get_selection_owner(d.intern_atom("_NET_WM_CM_S0")) != 0), end="")
          """,
        ])
      return answer == "1"
    }
  }
}
