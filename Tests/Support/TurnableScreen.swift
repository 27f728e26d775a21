import Foundation

/// An X server that can turn its screen by RANDR, as Xvfb cannot: Xephyr, in a window on an Xvfb.
package final class TurnableScreen: Sendable {
  private let host: VirtualScreen
  package let screen: VirtualScreen

  package init(width: Int, height: Int) throws {
    let side = max(width, height)
    host = try VirtualScreen(width: side, height: side)
    screen = try VirtualScreen(
      server: "Xephyr", ["-screen", "\(width)x\(height)"], environment: host.environment)
  }

  /// - Parameter direction: one of xrandr(1)'s: `normal`, `left`, `inverted`, `right`.
  package func turn(_ direction: String) throws {
    try output(of: "xrandr", ["--display", screen.display, "--orientation", direction])
  }

  // The server on the other's screen ends first.
  deinit { screen.server.process.end(with: SIGTERM) }
}
