import Foundation
import Platform

/// A window of one colour that an independent client shows (Tests/Tools/show_window.py).
package final class ShownWindow {
  private let program: RunningProgram
  private let input: Descriptor
  /// As `xwininfo` shows it.
  package let id: String

  /// - Parameters:
  ///   - name: its class.
  ///   - geometry: as in `60x40+20+30`.
  ///   - color: as in `ff00ff`.
  package init(
    _ name: String, _ geometry: String, color: String = "ff00ff", on screen: VirtualScreen
  ) throws {
    let pipe = try OneWayPipe()
    program = try RunningProgram(
      "/usr/bin/python3", [tool("show_window.py"), name, color, geometry],
      environment: screen.environment, input: .descriptor(pipe.readEnd.number))
    input = pipe.takeWriteEnd()
    try program.waitForOutput("\n")
    id = String(program.output.text.prefix { $0 != "\n" })
  }

  /// Has the client do something, and waits until the X server has.
  package func tell(_ command: String) throws {
    let answers = program.output.text.split(separator: "\n").count
    try send(command)
    try waitUntil("the window's client answers") {
      program.output.text.split(separator: "\n").count > answers
    }
  }

  /// Ends the client, and the window with it.
  package func close() throws {
    try send("quit")
    try program.finish()
  }

  private func send(_ command: String) throws {
    try writeFully(Array((command + "\n").utf8), to: input.number)
  }
}

/// A window manager, and a user who switches windows.
package struct Desktop {
  private let screen: VirtualScreen
  private let manager: RunningProgram

  package init(on screen: VirtualScreen) throws {
    self.screen = screen
    manager = try screen.show(
      "openbox", ["--sm-disable", "--config-file", "/etc/xdg/openbox/rc.xml"])
    try waitUntil("the window manager is there") {
      try wmctrl("-m").status.isSuccess
    }
  }

  package func bringToFront(_ window: ShownWindow) throws {
    try waitUntil("\(window.id) can be switched to") {
      try wmctrl("-i", "-a", window.id).status.isSuccess
    }
  }

  private func wmctrl(_ arguments: String...) throws -> ProgramResult {
    try screen.show("wmctrl", arguments).finish()
  }
}
