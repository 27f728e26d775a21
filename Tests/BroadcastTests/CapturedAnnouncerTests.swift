import AppGroup
import Capture
import FrameBus
import NotifyCenter
import Platform
import TestSupport
import Testing

/// The notification `framebus.captured` is right again after any process was killed.
@Suite struct CapturedAnnouncerTests {
  /// As a process leaves it that is killed after it replaced the state by an older value.
  @Test func stateThatAnotherProcessLeftWrongIsCorrected() throws {
    let root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID("a.b"), root: root.path)
    let stream = try StreamName("screen")
    var options = PublisherOptions()
    options.content = .screen
    let publisher = try Publisher(
      stream, in: group, format: try .video(.xrgb8888, width: 64, height: 4), options: options)
    let center = try NotifyCenter(group, role: .host, isSystem: true)
    let name = try NotificationName(CapturedAnnouncer.name)
    let announcer = try CapturedAnnouncer(in: group, as: .host)
    let subscriber = try Subscriber(stream, in: group)
    for wrong: UInt64 in [0, 7] {
      try waitUntil("the screen is captured") { try center.state(of: name) == 1 }
      let posts = try center.generation(of: name)
      #expect(try center.replaceState(1, with: wrong, of: name))
      try waitUntil("the state is corrected") { try center.state(of: name) == 1 }
      try waitUntil("that is posted") { try center.generation(of: name) > posts }
    }
    withExtendedLifetime(subscriber) {}
    announcer.end()
    withExtendedLifetime(publisher.subscriberCount) {}
  }
}
