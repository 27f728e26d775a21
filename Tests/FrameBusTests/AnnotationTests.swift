import CFrameLayout
import Platform
import Synchronization
import TestSupport
import Testing

@testable import FrameBus

/// The application that a publisher names, beside its frames.
@Suite struct AnnotationTests {
  private let world: World

  init() throws { world = try World() }

  private func name(_ text: String) throws -> ApplicationID { try #require(ApplicationID(text)) }

  private var listed: ApplicationID? {
    get throws { try listStreams(in: world.group).first?.application }
  }

  @Test func sleepersAndLaterSubscribersReceiveIt() throws {
    let publisher = try world.publisher()
    #expect(try listed == nil)
    let early = try world.worker("subscribe")
    try waitUntil("it is seated") { publisher.subscriberCount == 1 }
    publisher.annotation.application = try name("Firefox")
    try early.waitForOutput("event annotated Firefox")
    #expect(try listed?.text == "Firefox")
    let late = try world.worker("subscribe")
    try late.waitForOutput("event annotated Firefox")
    publisher.annotation.application = try name("org.example.editor")
    for worker in [early, late] { try worker.waitForOutput("event annotated org.example.editor") }
    publisher.annotation.application = nil
    try late.waitForOutput("event annotated nothing")
    #expect(try listed == nil)
    publisher.finish(.stopped)
    for worker in [early, late] { try worker.waitForOutput("finished stopped") }
  }

  @Test func itEndsWithItsPublisher() throws {
    let first = try world.worker("publish", "application=Firefox")
    try first.waitForOutput("publishing")
    let worker = try world.worker("subscribe", "log=1")
    try worker.waitForOutput("event annotated Firefox")
    _ = try first.end(with: 9)
    try worker.waitForOutput("event publisherGone")
    #expect(worker.output.text.contains("event annotated nothing\nevent publisherGone"))
    let second = try world.worker("publish", "application=\(String(repeating: "a", count: 255))")
    try worker.waitForOutput("event annotated aaa")
    #expect(try listed?.text.count == 255)
    _ = try second.end(with: 9)
    _ = try worker.end(with: 9)
  }

  /// Received while a subscriber is never without a new frame, and by `copyNext`.
  @Test func itIsReceivedBetweenFrames() throws {
    var publisher = try world.publisher()
    var busy = try world.subscriber()
    publisher.annotation.application = try name("Firefox")
    try waitUntil("it is received between frames") {
      try publishNumbered(&publisher)
      #expect(try receivedNumber(&busy) != nil)
      return busy.application?.text == "Firefox"
    }
    var copier = try world.subscriber()
    var bytes = [UInt8](repeating: 0, count: 64 * 4 * 4)
    try waitUntil("it is received by a reader that copies") {
      try publishNumbered(&publisher)
      var span = bytes.mutableSpan
      // SAFETY: every bit pattern is a valid byte.
      var raw = unsafe span.mutableBytes
      _ = try copier.copyNext(into: &raw)
      return copier.application?.text == "Firefox"
    }
  }

  /// A peer of an older version asks for no annotation: to it, its message is a malformed one.
  @Test func peersThatDoNotAskForItReceiveNoMessage() throws {
    let publisher = try world.publisher()
    publisher.annotation.application = try name("one")
    let old = try connect()
    var hello = SubscriberOptions().hello
    hello.extras = 0
    let isSent = old.send(hello) == .sent
    #expect(isSent)
    #expect(try kind(from: old) == FB_MESSAGE_PAGE)
    let hasMapped = old.send(fb_short_message(Int(FB_MESSAGE_MAPPED))) == .sent
    #expect(hasMapped)
    #expect(try kind(from: old) == FB_MESSAGE_WELCOME)
    let hasSat = old.send(fb_short_message(Int(FB_MESSAGE_SEATED))) == .sent
    #expect(hasSat)
    let new = try world.worker("subscribe")
    for name in ["two", "three"] {
      publisher.annotation.application = try self.name(name)
      // So all messages of the change before have been sent.
      try new.waitForOutput("event annotated \(name)")
    }
    let hasMessage = try Message(from: old) != nil
    #expect(!hasMessage)
    publisher.finish(.stopped)
    try new.waitForOutput("finished")
  }

  @Test func inspectorsThatDoNotAskForItReceiveTheStatusAlone() throws {
    let publisher = try world.publisher()
    publisher.annotation.application = try name("one")
    for (extras, expected) in [
      (UInt64(0), [FB_MESSAGE_STATUS]),
      (UInt64(FB_EXTRA_ANNOTATION), [FB_MESSAGE_ANNOTATION, FB_MESSAGE_STATUS]),
    ] {
      let socket = try connect()
      let isSent = socket.send(fb_short_message(Int(FB_MESSAGE_INSPECT), value: extras)) == .sent
      #expect(isSent)
      for kind in expected { #expect(try self.kind(from: socket) == kind) }
    }
    withExtendedLifetime(publisher.subscriberCount) {}
  }

  // SAFETY: every bit pattern is a valid message; the bytes written are fewer than the field's.
  @Test func namesThatCannotBeShownAreNoNames() {
    var message = fb_annotation(ApplicationID("Firefox"))
    #expect(message.name?.text == "Firefox")
    #expect(fb_annotation(nil).name == nil)
    for bytes in [[0x61, 0x1b, 0x5b], [0xff], [0xe2, 0x80, 0xae]] as [[UInt8]] {
      unsafe withUnsafeMutableBytes(of: &message.application) { unsafe $0.copyBytes(from: bytes) }
      #expect(message.name == nil)
    }
    // Without an end.
    unsafe withUnsafeMutableBytes(of: &message.application) {
      unsafe $0.copyBytes(from: [UInt8](repeating: 0x61, count: $0.count))
    }
    #expect(message.name == nil)
  }

  private func connect() throws -> MessageSocket {
    try MessageSocket.connect(to: world.group.endpoint(of: world.stream).socketPath)
  }

  private func kind(from socket: borrowing MessageSocket) throws -> Int? {
    let isReadable = socket.waitUntilReadable(until: .after(.seconds(30)))
    #expect(isReadable)
    return try Message(from: socket)?.header.map { Int($0.kind) }
  }
}
