import Foundation
import Platform

/// An X server for one test, without a monitor (`Xvfb`), on a display number that the server
/// chooses, so that tests can run in parallel.
package final class VirtualScreen: Sendable {
  package let server: RunningProgram
  /// For example `:37`.
  package let display: String

  /// - Parameters:
  ///   - isOpenToAll: allows clients of other users.
  ///   - options: additional arguments of the server, such as `["-extension", "MIT-SHM"]`.
  package convenience init(
    width: Int = 640, height: Int = 480, depth: Int = 24, isOpenToAll: Bool = false,
    options: [String] = []
  ) throws {
    let screen = ["-screen", "0", "\(width)x\(height)x\(depth)"]
    try self.init(server: "Xvfb", screen + (isOpenToAll ? ["-ac"] : []) + options)
  }

  /// - Parameters:
  ///   - server: such as `Xvfb`.
  ///   - environment: of the server.
  init(
    server program: String, _ options: [String], environment: [String: String?] = [:]
  ) throws {
    let pipe = try OneWayPipe()
    server = try RunningProgram(
      program, ["-displayfd", "3", "-nolisten", "tcp", "-noreset"] + options,
      environment: environment, inherited: [pipe.writeEnd.number])
    let answer = try ProgramOutput(reading: pipe.takeReadEnd())
    guard answer.wait(until: .after(.seconds(60)), for: { $0.hasSuffix("\n") }) else {
      throw HarnessError("\(program) did not start\n\(server.transcript)")
    }
    display = ":" + answer.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The environment for a client of this screen.
  package var environment: [String: String?] {
    ["DISPLAY": display, "WAYLAND_DISPLAY": nil, "XDG_SESSION_TYPE": nil]
  }

  /// Starts an X client on this screen.
  package func show(_ program: String, _ arguments: [String] = []) throws -> RunningProgram {
    try RunningProgram(program, arguments, environment: environment)
  }

  // SIGTERM makes the server remove its socket and lock file.
  deinit { server.process.end(with: SIGTERM) }
}
