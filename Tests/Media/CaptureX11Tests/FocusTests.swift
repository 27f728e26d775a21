import Foundation
import FrameBus
import FrontApplication
import Platform
import TestSupport
import Testing

/// A real window manager reports the active window; the capture reports its application.
@Suite struct FocusTests {
  /// A capture with an observer of the front application.
  private final class Scene {
    let world: ScreenWorld
    let desktop: Desktop
    private let capture: RunningProgram
    private var subscriber: Subscriber
    private let front: FrontApplication

    convenience init(_ options: String...) throws { try self.init(options) }

    init(_ options: [String]) throws {
      world = try ScreenWorld()
      desktop = try Desktop(on: world.screen)
      capture = try world.capture(options, window: nil)
      subscriber = try world.subscriber()
      front = try FrontApplication(of: world.stream, in: world.group)
    }

    /// A window manager that has just started does not activate new windows by itself.
    func show(_ name: String) throws -> ShownWindow {
      let window = try ShownWindow(name, "60x40+20+30", on: world.screen)
      try desktop.bringToFront(window)
      return window
    }

    /// Waits until the stream is annotated with this name, and the group's setting has it; nil:
    /// until neither has one.
    func wait(for name: String?) throws {
      try waitUntil("\(name ?? "nobody") is in front, not \(self.name ?? "nobody")") {
        _ = try subscriber.poll()
        return subscriber.application?.text == name && self.name == name
      }
    }

    var name: String? { front.current?.text }

    /// A host names an application.
    func annotate(_ name: String) throws { try front.set(ApplicationID(name)) }

    /// As a process shows it that has no seat.
    var listed: String? {
      get throws { try listStreams(in: world.group).first?.application?.text }
    }

    func end() throws { try capture.end(with: SIGTERM) }
  }

  @Test func frontApplicationIsReportedAndClearedAtTheEnd() throws {
    try withWatchdog {
      let scene = try Scene()
      try scene.wait(for: nil)
      let one = try scene.show("one")
      try scene.wait(for: "one")
      let two = try scene.show("two")
      try scene.wait(for: "two")
      for (window, name) in [(one, "one"), (two, "two"), (one, "one")] {
        try scene.desktop.bringToFront(window)
        try scene.wait(for: name)
      }
      try one.close()
      try scene.wait(for: "two")
      #expect(try scene.listed == "two")
      // A host's name lasts until another application moves to the front.
      try scene.annotate("org.example.host")
      try scene.wait(for: "org.example.host")
      let three = try scene.show("three")
      try scene.wait(for: "three")
      try scene.end()
      try scene.wait(for: nil)
      withExtendedLifetime((two, three)) {}
    }
  }

  @Test func desktopEntryNameIsPreferredToWindowClass() throws {
    try withWatchdog {
      let scene = try Scene()
      let window = try scene.show("one")
      let other = try scene.show("two")
      for property in ["_KDE_NET_WM_DESKTOP_FILE", "_GTK_APPLICATION_ID"] {
        let name = "org.example.\(property.prefix(4).lowercased().drop { $0 == "_" })"
        let digits = name.utf8.map { String($0, radix: 16) }.joined()
        try window.perform("property \(property) \(digits)")
        try scene.desktop.bringToFront(window)
        try scene.wait(for: name)
        try scene.desktop.bringToFront(other)
        try scene.wait(for: "two")
      }
      try scene.end()
    }
  }

  /// Control characters, invalid UTF-8, a name that is too long, and an empty one.
  @Test(arguments: [
    "hex:6100611b5b324a00", "hex:fffe00fffe00", "hex:" + String(repeating: "61", count: 300) + "00",
    "hex:00",
  ])
  func unshowableWindowNamesAreIgnored(name: String) throws {
    try withWatchdog {
      let scene = try Scene()
      let honest = try scene.show("honest")
      try scene.wait(for: "honest")
      let hostile = try scene.show(name)
      try scene.wait(for: name.hasPrefix("hex:6100611b") ? "a" : nil)
      try scene.desktop.bringToFront(honest)
      try scene.wait(for: "honest")
      try scene.end()
      withExtendedLifetime(hostile) {}
    }
  }

  @Test func protectedWindowIsNotNamed() throws {
    try withWatchdog {
      let scene = try Scene("--protect", "secret")
      let open = try scene.show("open")
      try scene.wait(for: "open")
      let secret = try scene.show("secret")
      try scene.wait(for: nil)
      try scene.desktop.bringToFront(open)
      try scene.wait(for: "open")
      try scene.end()
      withExtendedLifetime(secret) {}
    }
  }

  @Test func markAndNameAreUpdatedWhileTheWindowIsInFront() throws {
    try withWatchdog {
      let scene = try Scene("--protect", "marked")
      let window = try scene.show("one")
      try scene.wait(for: "one")
      try window.perform("mark")
      try scene.wait(for: nil)
      try window.perform("unmark")
      try scene.wait(for: "one")
      try scene.end()
    }
  }

  /// Also for a window that was in front before, with and without the protection's own watch.
  @Test(arguments: [[], ["--protect", "marked"]])
  func lateNameOfAWindowIsReported(options: [String]) throws {
    try withWatchdog {
      let scene = try Scene(options)
      let one = try scene.show("one")
      try scene.wait(for: "one")
      let two = try scene.show("two")
      try scene.wait(for: "two")
      try scene.desktop.bringToFront(one)
      try scene.wait(for: "one")
      try one.perform("name late")
      try scene.wait(for: "late")
      try one.perform("property _GTK_APPLICATION_ID 6c61746572")
      try scene.wait(for: "later")
      try scene.end()
      withExtendedLifetime(two) {}
    }
  }

  @Test func refusedCaptureKeepsTheNameOfTheRunningOne() throws {
    try withWatchdog {
      let scene = try Scene()
      let window = try scene.show("one")
      try scene.wait(for: "one")
      let refused = try scene.world.capture().finish()
      #expect(refused.status == .exited(1))
      #expect(scene.name == "one")
      try scene.end()
      withExtendedLifetime(window) {}
    }
  }

  @Test func applicationNameIsShowableText() {
    for text in ["a", "org.gnome.gedit", "Ümläut 1", String(repeating: "a", count: 255)] {
      #expect(ApplicationID(text)?.text == text)
    }
    for text in ["", "a\nb", "\u{202e}a", "a\u{0}", String(repeating: "a", count: 256)] {
      #expect(ApplicationID(text) == nil)
    }
    #expect(ApplicationID(bytes: [0x61, 0, 0x62])?.text == "a")
    #expect(ApplicationID(bytes: [0x61, 0xFF]) == nil)
  }
}
