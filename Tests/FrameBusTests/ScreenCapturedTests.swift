import Foundation
import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// Whether a screen is seen: exact whichever process is killed or stopped.
@Suite struct ScreenCapturedTests {
  private let world: World
  private let state: ScreenCapturedState

  init() throws {
    world = try World()
    state = ScreenCapturedState(in: world.group)
  }

  private func screen(_ stream: String = "screen") throws -> RunningProgram {
    let worker = try world.worker("publish", stream: stream, "content=screen")
    try worker.waitForOutput("publishing")
    return worker
  }

  private func subscriber(_ stream: String = "screen") throws -> RunningProgram {
    let worker = try world.worker("subscribe", stream: stream)
    try worker.waitForOutput("attached")
    return worker
  }

  private func waitUntilUnseen() throws {
    try waitUntil("the screen is not captured") { try !state.isCaptured }
  }

  private func hasMark(_ stream: String = "screen") -> Bool {
    FileManager.default.fileExists(atPath: "\(world.group.streamsPath)/\(stream).seen")
  }

  @Test func screenIsCapturedUntilItsLastSubscriberIsKilled() throws {
    let publisher = try screen()
    #expect(try !state.isCaptured)
    let first = try subscriber()
    #expect(try state.isCaptured)
    let second = try subscriber()
    _ = try first.end(with: SIGKILL)
    try waitUntil("one subscriber is left") {
      try listStreams(in: world.group).first?.subscribers.count == 1
    }
    #expect(try state.isCaptured)
    #expect(try listStreams(in: world.group).first?.isCaptured == true)
    _ = try second.end(with: SIGKILL)
    try waitUntilUnseen()
    #expect(try listStreams(in: world.group).first?.content == .screen)
    #expect(try listStreams(in: world.group).first?.isCaptured == false)
    withExtendedLifetime(publisher) {}
  }

  @Test func screenIsNotCapturedOnceItsPublisherIsKilled() throws {
    let publisher = try screen()
    let subscriber = try subscriber()
    #expect(try state.isCaptured)
    _ = try publisher.end(with: SIGKILL)
    #expect(try !state.isCaptured)
    #expect(hasMark(), "nobody removes what a killed publisher leaves")
    _ = try subscriber.end(with: SIGKILL)
    // The next publisher of the name has no subscriber yet.
    let successor = try screen()
    #expect(try !state.isCaptured)
    #expect(!hasMark())
    withExtendedLifetime(successor) {}
  }

  @Test func screenOfStoppedPublisherIsCaptured() throws {
    let publisher = try screen()
    let subscriber = try subscriber()
    publisher.process.send(signal: SIGSTOP)
    #expect(try state.isCaptured)
    publisher.process.send(signal: SIGCONT)
    _ = try subscriber.end(with: SIGKILL)
    try waitUntilUnseen()
  }

  @Test func screenIsCapturedWhileAnyOfSeveralIs() throws {
    let screens = try ["one", "two"].map(screen)
    let first = try subscriber("one")
    let second = try subscriber("two")
    _ = try screens[0].end(with: SIGKILL)
    #expect(try state.isCaptured)
    _ = try second.end(with: SIGKILL)
    try waitUntilUnseen()
    withExtendedLifetime((first, screens)) {}
  }

  @Test func subscribersOfOtherStreamsDoNotCount() throws {
    let publisher = try world.publisher()
    let subscriber = try world.subscriber()
    #expect(try !state.isCaptured)
    #expect(try listStreams(in: world.group).first?.content == .other)
    withExtendedLifetime(publisher.subscriberCount) {}
    withExtendedLifetime(subscriber) {}
  }

  @Test func windowCountsUntilItsStreamEnds() throws {
    var publisher: Publisher? = try world.publisher { $0.content = .window }
    let subscriber = try world.subscriber()
    #expect(try state.isCaptured)
    publisher.take()?.finish(.ended)
    #expect(try !state.isCaptured)
    #expect(!hasMark())
    withExtendedLifetime(subscriber) {}
  }

  @Test func marksWithoutTheirPublisherDoNotCount() throws {
    let directory = world.group.streamsPath
    try Data().write(to: URL(filePath: "\(directory)/nobody.seen"))
    try Data().write(to: URL(filePath: "\(directory)/.seen"))
    #expect(try !state.isCaptured)
    let publisher = try screen()
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory)/screen.seen", withDestinationPath: "/etc/passwd")
    #expect(try !state.isCaptured)
    withExtendedLifetime(publisher) {}
  }

  @Test func changesReportEachDeathOnceAndWithoutHelp() throws {
    let values = Values()
    let changes = try state.changes()
    // Its own thread: tests that wait may have all those of the usual pool.
    let task = Task(executorPreference: try FrameExecutor()) {
      for await isCaptured in changes { values.add(isCaptured) }
    }
    func waitForValues(_ expected: [Bool]) throws {
      try waitUntil("\(expected), not \(values.all)") { values.all == expected }
    }
    try waitForValues([false])
    var publisher = try screen()
    var reader = try subscriber()
    try waitForValues([false, true])
    _ = try reader.end(with: SIGKILL)
    try waitForValues([false, true, false])
    reader = try subscriber()
    try waitForValues([false, true, false, true])
    _ = try publisher.end(with: SIGKILL)
    try waitForValues([false, true, false, true, false])
    publisher = try screen()
    try waitForValues([false, true, false, true, false, true])
    task.cancel()
    withExtendedLifetime((publisher, reader)) {}
  }
}

private final class Values: Sendable {
  private let list = Mutex<[Bool]>([])
  func add(_ value: Bool) { list.withLock { $0.append(value) } }
  var all: [Bool] { list.withLock { $0 } }
}
