import AppGroup
import NotifyCenter
import Platform
import TestSupport
import Testing

/// The sample code (Tests/Programs/DarwinWorker/Seed.swift), as processes.
@Suite struct SeedTests {
  private let root: TemporaryRoot
  private let center: NotifyCenter

  init() throws {
    root = try TemporaryRoot()
    let group = try AppGroup.create(GroupID("a.b"), root: root.path)
    center = try NotifyCenter(group, role: .host)
  }

  private func start(_ arguments: String...) throws -> RunningProgram {
    // Line-buffered, although its output is not a terminal: it may be killed.
    try RunningProgram(
      "stdbuf", ["-oL", try pathOfProgram("DarwinWorker")] + arguments,
      environment: ["FRAMEBUS_HOME": root.path, "FRAMEBUS_GROUP": "a.b"])
  }

  @Test func startedBroadcastIsPosted() throws {
    let name = try NotificationName("broadcastStarted")
    let observation = try center.observeByDescriptor(name)
    let number = try #require(observation.descriptor)
    var isPosterKnown = false
    // On a busy machine, the observer's poll may see a post before the doorbell that names it.
    for generation in UInt64(1)...20 where !isPosterKnown {
      let sender = try start("send", "broadcastStarted")
      var taken: Delivery?
      while taken == nil {
        #expect(try waitUntilReadable([number], until: .after(.seconds(60))) == [true])
        taken = try observation.take()
      }
      #expect(taken?.generation == generation)
      isPosterKnown = taken?.poster != nil
      if let poster = taken?.poster { #expect(poster.pid == sender.processID) }
      let result = try sender.finish()
      #expect(result.status.isSuccess)
      #expect(result.errors == "")
    }
    #expect(isPosterKnown)
  }

  @Test func finishedBroadcastIsObservedUntilTheObserverIsReleased() throws {
    let observer = try start("observe")
    try observer.waitForOutput("observing")
    let name = try NotificationName("broadcastFinished")
    for count in 1...3 {
      try center.post(name)
      try waitUntil("\(count) are received") {
        observer.output.text.components(separatedBy: "received").count == count + 1
      }
    }
    // The observer that was released before did not receive any.
    #expect(
      observer.output.text
        == "observing\n" + String(repeating: "received notification: broadcastFinished\n", count: 3)
    )
  }

  @Test func processWithoutItsGroupReportsThatOnceAndContinues() throws {
    try AppGroup.remove(GroupID("a.b"), root: root.path)
    let result = try start("send", "broadcastStarted").finish()
    #expect(result.status.isSuccess)
    #expect(result.errors.hasPrefix("notifications: there is no group a.b; create it with"))
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}
