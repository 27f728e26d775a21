import AppGroup
import Foundation
import FrameBus
import Platform
import TestSupport

/// Gives a fake compositor, which lives as long as the body runs, under a watchdog.
func withFake(
  _ values: String..., what: String = #function, _ body: (FakeSession) throws -> Void
) throws {
  try withWatchdog(what) {
    let fake = try FakeSession(values)
    try withExtendedLifetime(fake) { try body(fake) }
  }
}

/// The fake compositor, a group, and the program that captures.
final class FakeSession {
  let root: TemporaryRoot
  let group: AppGroup
  let fake: RunningProgram
  private let commands: Descriptor
  let socket: String

  /// What the compositor offers: wlr-screencopy alone, or ext-image-copy-capture alone.
  static let screencopy = "ext=0"
  static let sessions = "ext=1 version=0"
  static let protocols = [screencopy, sessions]

  init(_ values: [String]) throws {
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("org.example.test"), root: root.path)
    socket = root.file("wayland-9")
    let pipe = try OneWayPipe()
    fake = try RunningProgram(
      "FakeCompositor", [socket] + values.flatMap { $0.split(separator: " ").map(String.init) },
      input: .descriptor(pipe.readEnd.number))
    commands = pipe.takeWriteEnd()
    try fake.waitForOutput("listens")
  }

  /// Changes values, and the picture.
  func send(_ values: String...) throws {
    try FileHandle(fileDescriptor: commands.number, closeOnDealloc: false)
      .write(contentsOf: Data((values.joined(separator: " ") + "\n").utf8))
  }

  /// Options that name the group.
  var location: [String] { ["--root", root.path, "--group", "org.example.test"] }
  var environment: [String: String?] {
    [
      "WAYLAND_DISPLAY": socket, "DISPLAY": nil, "XDG_SESSION_TYPE": nil,
      // No portal takes its place.
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
    ]
  }

  func capture(
    _ arguments: String..., source: String = "wayland", environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "framebus-capture", [source] + location + arguments,
      environment: self.environment.merging(environment) { $1 })
  }

  /// A capture that ends by itself.
  func captured(
    _ arguments: String..., source: String = "wayland", environment: [String: String?] = [:]
  ) throws -> ProgramResult {
    try RunningProgram(
      "framebus-capture", [source] + location + arguments,
      environment: self.environment.merging(environment) { $1 }
    ).finish()
  }

  func subscriber(onEvent: (@Sendable (StreamEvent) -> Void)? = nil) throws -> Subscriber {
    var options = SubscriberOptions()
    options.start = .newest
    options.onEvent = onEvent
    return try Subscriber(
      StreamName("screen"), in: group, options: options,
      waitingForPublisherUntil: .after(.seconds(60)))
  }
}
