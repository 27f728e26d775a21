import Foundation

/// An X server on the machine's graphics card, which can rotate its screen; Xvfb cannot. Only in
/// scripts/vm, because it takes over the machine's screen.
package enum MachineScreen {
  package static var isFree: Bool { ProcessInfo.processInfo.environment["FRAMEBUS_VM"] != nil }

  /// - Returns: a screen of 800×600 pixels.
  package static func start(in root: TemporaryRoot) throws -> VirtualScreen {
    let configuration = root.file("xorg.conf")
    try Data(#"Section "ServerFlags"\#n Option "AutoAddDevices" "false"\#nEndSection\#n"#.utf8)
      .write(to: URL(fileURLWithPath: configuration))
    let screen = try VirtualScreen(
      server: "Xorg", ["-config", configuration, "-logfile", root.file("Xorg.log"), "vt7"])
    try turn(screen, "--mode", "800x600")
    return screen
  }

  /// Changes the only monitor with xrandr(1).
  package static func turn(_ screen: VirtualScreen, _ change: String...) throws {
    try output(
      of: "xrandr", ["--display", screen.display, "--output", "Virtual-1"] + change)
  }
}
