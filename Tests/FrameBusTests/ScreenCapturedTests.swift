import AppGroup
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

  private func hasMark(_ stream: String = "screen") throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: world.group.streamsPath)
      .contains { $0.hasPrefix("\(stream).seen-") }
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
    #expect(try hasMark(), "nobody removes what a killed publisher leaves")
    _ = try subscriber.end(with: SIGKILL)
    // The next publisher of the name has no subscriber yet.
    let successor = try screen()
    #expect(try !state.isCaptured)
    #expect(try !hasMark())
    withExtendedLifetime(successor) {}
  }

  @Test func screenOfStoppedPublisherIsCaptured() throws {
    let publisher = try screen()
    let subscriber = try subscriber()
    publisher.process.send(signal: SIGSTOP)
    #expect(try state.isCaptured)
    // Its queue of connections is full.
    let script = """
      import socket, sys
      waiting = []
      while True:
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.setblocking(False)
        try:
          one.connect("\(world.group.streamsPath)/screen.sock")
        except BlockingIOError:
          break
        waiting.append(one)
      print("full", flush=True)
      sys.stdin.read()
      """
    let pipe = try OneWayPipe()
    let crowd = try RunningProgram(
      "/usr/bin/python3", ["-c", script], input: .descriptor(pipe.readEnd.number))
    try crowd.waitForOutput("full")
    #expect(try state.isCaptured)
    _ = try crowd.end(with: SIGKILL)
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
    #expect(try !hasMark())
    withExtendedLifetime(subscriber) {}
  }

  @Test func marksWithoutTheirPublisherDoNotCount() throws {
    let directory = world.group.streamsPath
    for name in ["nobody.seen-1", ".seen-1", "screen.seen", "screen.seen-"] {
      try Data().write(to: URL(filePath: "\(directory)/\(name)"))
    }
    #expect(try !state.isCaptured)
    let publisher = try screen()
    #expect(try !state.isCaptured)
    try FileManager.default.createSymbolicLink(
      atPath: "\(directory)/screen.seen-2", withDestinationPath: "/etc/passwd")
    #expect(try !state.isCaptured)
    withExtendedLifetime(publisher) {}
  }

  /// The lock of one stream has a name like a mark of the other.
  @Test func streamWhoseNameIsLikeAMarkIsAnother() throws {
    let screens = try ["screen", "screen.seen-1"].map(screen)
    #expect(try !state.isCaptured)
    let reader = try subscriber("screen.seen-1")
    #expect(try state.isCaptured)
    _ = try screens[0].end(with: SIGKILL)
    let successor = try screen()
    #expect(try state.isCaptured)
    let lock = "\(world.group.streamsPath)/screen.seen-1.lock"
    #expect(FileManager.default.fileExists(atPath: lock))
    _ = try reader.end(with: SIGKILL)
    try waitUntilUnseen()
    withExtendedLifetime((screens, successor)) {}
  }

  /// A process that the publisher started may keep its sockets.
  @Test func publisherThatHasEndedDoesNotCountThoughAChildListens() throws {
    let path = world.group.streamsPath + "/screen"
    let script = """
      import os, socket, sys
      listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      listener.bind("\(path).sock")
      listener.listen()
      if os.fork() == 0:
        print("listening", flush=True)
        sys.stdin.read()
      """
    try Data().write(to: URL(filePath: "\(path).seen-1"))
    let pipe = try OneWayPipe()
    let program = try RunningProgram(
      "/usr/bin/python3", ["-c", script], input: .descriptor(pipe.readEnd.number))
    try program.waitForOutput("listening")
    try waitUntil("the parent has ended") { program.process.status != nil }
    #expect(try !state.isCaptured)
    withExtendedLifetime(pipe) {}
  }

  /// The directory is away, so the value cannot be read.
  @Test func valueStaysWhileItCannotBeRead() throws {
    let screens = try ["one", "two"].map(screen)
    let (first, second) = (try subscriber("one"), try subscriber("two"))
    let values = Values()
    let failures = Channel<SystemError>()
    let watch = try CapturedWatch(world.group, failed: failures.send, values.add)
    #expect(values.all == [true])
    let path = world.group.streamsPath
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    try Data().write(to: URL(filePath: path))
    _ = try first.end(with: SIGKILL)
    try failures.receive()
    #expect(throws: SystemError.self) { try state.isCaptured }
    #expect(values.all == [true])
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    _ = try second.end(with: SIGKILL)
    try waitUntil("the end is reported, not \(values.all)") { values.all == [true, false] }
    withExtendedLifetime((screens, watch)) {}
  }

  @Test func newDirectoryIsWatchedAfterTheOldOneCouldNotBeRead() throws {
    let path = world.group.streamsPath
    let values = Values()
    let failures = Channel<SystemError>()
    let publisher = try screen()
    let watch = try CapturedWatch(world.group, failed: failures.send, values.add)
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    try Data().write(to: URL(filePath: path))
    _ = try publisher.end(with: SIGTERM)
    try Data().write(to: URL(filePath: path + ".away/other"))
    try failures.receive()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o1700])
    let (successor, reader) = (try screen(), try subscriber())
    try waitUntil("the new directory is watched: \(values.all)") { values.all == [false, true] }
    withExtendedLifetime((watch, successor, reader)) {}
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

/// Marks that another member of the group has made.
@Suite(.enabled(if: TestUser.canBeCreated, "users can only be created by root"))
struct ForeignMarkTests {
  private let root: TemporaryRoot
  private let user: TestUser
  /// Who publishes, and may not remove the files of others.
  private let publisher: TestUser
  private let group: AppGroup
  private let state: ScreenCapturedState

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    (user, publisher) = (try TestUser(), try TestUser())
    let id = try GroupID(World.groupName)
    _ = try AppGroup.create(id, root: root.path)
    for member in [user, publisher] {
      try AppGroup.grant(.capture, to: .user(member.uid), in: id, root: root.path)
    }
    group = try AppGroup.open(id, root: root.path)
    state = ScreenCapturedState(in: group)
  }

  private func words(_ role: String) -> [String] {
    [role, root.path, World.groupName, "screen"]
  }

  private func subscriber() throws -> RunningProgram {
    let worker = try RunningProgram("BusWorker", words("subscribe"))
    try worker.waitForOutput("attached")
    return worker
  }

  private func mark() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: group.streamsPath)
    return try #require(names.first { $0.contains(".seen-") })
  }

  /// Runs a command of the other member in the directory of the streams.
  private func run(_ command: String) throws {
    let made = try user.run("/bin/sh", ["-c", "cd \(group.streamsPath) && \(command)"])
    try #require(made.status.isSuccess, "\(made.errors)")
  }

  /// A publisher would otherwise take the file for its own, and the other member removes it.
  @Test func anotherMembersFilesHideNoSubscriber() throws {
    try run("umask 0; for name in screen.seen screen.seen-1; do : > $name; done")
    let capture = try publisher.start("BusWorker", words("publish") + ["content=screen"])
    try capture.waitForOutput("publishing")
    #expect(try !state.isCaptured)
    let reader = try subscriber()
    #expect(try state.isCaptured)
    try run("rm screen.seen screen.seen-1")
    #expect(try state.isCaptured)
    let past = try mark()
    #expect(try !user.run("/bin/rm", ["-f", "\(group.streamsPath)/\(past)"]).status.isSuccess)
    #expect(try state.isCaptured)
    // What the next mark will be called is not known, though all that there were are.
    _ = try reader.end(with: SIGKILL)
    try waitUntil("nobody sees it") { try !state.isCaptured }
    try run("umask 0; : > \(past)")
    let next = try subscriber()
    try run("rm \(past)")
    #expect(try state.isCaptured)
    withExtendedLifetime((capture, next)) {}
  }

  /// The socket of a publisher that cannot be connected to for another reason than its absence.
  @Test func markOfAnotherUserDoesNotCountIfItsPublisherIsUnknown() throws {
    let path = group.streamsPath + "/screen"
    let script = """
      import socket, sys
      listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
      listener.bind("\(path).sock")
      listener.listen()
      print("listening", flush=True)
      sys.stdin.read()
      """
    let pipe = try OneWayPipe()
    let program = try RunningProgram(
      "/usr/bin/python3", ["-c", script], input: .descriptor(pipe.readEnd.number))
    try program.waitForOutput("listening")
    try run(": > screen.seen-1")
    #expect(try !state.isCaptured)
    try Data().write(to: URL(filePath: path + ".seen-2"))
    #expect(try state.isCaptured)
    withExtendedLifetime(pipe) {}
  }
}

private final class Values: Sendable {
  private let list = Mutex<[Bool]>([])
  func add(_ value: Bool) { list.withLock { $0.append(value) } }
  var all: [Bool] { list.withLock { $0 } }
}
