import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// A mailbox and its senders: order, acknowledgement, return, limits.
@Suite struct MailboxTests {
  @Test func lettersArriveInOrderAndAreAcknowledged() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var sender = try world.sender()
    for number in 1...10 { #expect(try sender.send([UInt8(number)]) == UInt64(number)) }
    for number in 1...10 {
      let letter = try mailbox.letter()
      #expect(letter.payload == [UInt8(number)])
      #expect(letter.sequence == UInt64(number))
      #expect(letter.senderID == sender.id)
      #expect(letter.isRepeated == false)
      #expect(letter.sender.pid == currentProcessID())
      #expect(letter.sender.uid == currentUserID())
      letter.acknowledge()
    }
    try sender.settle(until: soon)
    #expect(sender.unsettled.isEmpty)
    #expect(try mailbox.isEmpty())
  }

  @Test func payloadsOfEverySizeUpToTheLimitArriveWhole() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var sender = try world.sender()
    for byteCount in [0, 1, 4095, 4096, Mailbox.maximumLetterBytes] {
      let payload = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      try sender.send(payload, until: soon)
      let letter = try mailbox.letter()
      #expect(letter.payload == payload)
      letter.acknowledge()
    }
    try sender.settle(until: soon)
    #expect(throws: MailboxError.tooLarge(byteCount: 65537)) {
      try sender.send(Array(repeating: 0, count: 65537))
    }
  }

  @Test func droppedLetterIsReturnedToItsSender() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var sender = try world.sender()
    try sender.send(.init("no"))
    try sender.send(.init("yes"))
    do {
      let first = try mailbox.letter()
      let second = try mailbox.letter()
      second.acknowledge()
      #expect(first.sequence == 1)
    }
    #expect(throws: MailboxError.returned(world.name, count: 1)) {
      try sender.settle(until: soon)
    }
    let returned = sender.takeReturned()
    #expect(returned.map(\.payload) == [.init("no")])
    try sender.settle(until: soon)
  }

  @Test func senderWaitsForRoomUntilItsDeadline() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var sender = try world.sender()
    for _ in 0..<Mailbox.maximumUnsettledCount { try sender.send([1]) }
    #expect(throws: MailboxError.timedOut(world.name, unsettledCount: 64)) {
      try sender.send([2], until: .after(.milliseconds(20)))
    }
    try mailbox.letter().acknowledge()
    #expect(try sender.send([3], until: soon) == 65)
    #expect(throws: MailboxError.timedOut(world.name, unsettledCount: 64)) {
      try sender.settle(until: .now)
    }
  }

  @Test func senderWaitsForRoomForItsBytes() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var sender = try world.sender()
    let large: [UInt8] = Array(repeating: 5, count: Mailbox.maximumLetterBytes)
    try sender.send(large, until: soon)
    try sender.send(large, until: soon)
    #expect(throws: MailboxError.timedOut(world.name, unsettledCount: 2)) {
      try sender.send([1], until: .now)
    }
    try mailbox.letter().acknowledge()
    try sender.send([1], until: soon)
  }

  @Test func stopSignalEndsEachWait() throws {
    let world = try MailboxWorld()
    let stop = try StopSignal()
    stop.raise()
    #expect(throws: MailboxError.noOwner(world.name)) {
      _ = try MailboxSender(
        to: world.name, in: world.group, as: .host, waitingForOwnerUntil: .never, stop: stop)
    }
    var mailbox = try world.own()
    if let letter = try mailbox.receive(stop: stop) { Issue.record("got \(letter.sequence)") }
    var sender = try world.sender()
    try sender.send([1])
    #expect(throws: MailboxError.timedOut(world.name, unsettledCount: 1)) {
      try sender.settle(stop: stop)
    }
  }

  @Test func mailboxHasOneOwnerAtATime() throws {
    let world = try MailboxWorld()
    do {
      let mailbox = try world.own()
      #expect(throws: MailboxError.taken(world.name)) { _ = try world.own() }
      #expect(mailbox.name == world.name)
    }
    #expect(throws: MailboxError.noOwner(world.name)) { _ = try world.sender() }
    _ = try world.own()
    let left = try Directory(path: world.group.mailboxesPath).names()
    #expect(left.isEmpty)
  }

  @Test func senderCanWaitForAnOwner() throws {
    let world = try MailboxWorld()
    let waiting = try world.worker("send", "settle=1")
    var mailbox = try world.own()
    let letter = try mailbox.letter()
    #expect(letter.sender.pid == waiting.processID)
    letter.acknowledge()
    try waiting.waitForOutput("sent")
  }

  @Test func mailboxNamesAreValidFileNames() throws {
    for text in ["", "A", ".a", "a/b", "ä", String(repeating: "a", count: 49)] {
      #expect(throws: MailboxNameError.self) { try MailboxName(text) }
    }
    #expect(try MailboxName("encoder.0").text == "encoder.0")
  }
}
