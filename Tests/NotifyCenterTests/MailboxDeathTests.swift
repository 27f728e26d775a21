import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// Letters when either side is killed (docs/design/mailbox.md, Failures).
@Suite struct MailboxDeathTests {
  @Test func lettersOfADeadSenderArrive() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    let sender = try world.worker("send", "count=20")
    try sender.waitForOutput("sent")
    try sender.end(with: SIGKILL)
    for number in 1...20 {
      let letter = try mailbox.letter()
      #expect(letter.payload == .init("\(number)"))
      #expect(letter.sender.pid == sender.processID)
      letter.acknowledge()
    }
    #expect(try mailbox.isEmpty())
  }

  /// The sender dies with an unread answer.
  @Test func lettersOfASenderThatReadsNoAnswersArrive() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    let sender = try world.worker("send", "count=3")
    try sender.waitForOutput("sent")
    try mailbox.letter().acknowledge()
    try sender.end(with: SIGKILL)
    for number in 2...3 {
      #expect(try mailbox.letter().payload == .init("\(number)"))
    }
  }

  @Test func senderKnowsLettersInDoubtAfterOwnersDeathAndResendsThem() throws {
    let world = try MailboxWorld()
    let owner = try world.worker("own", "acknowledge=2")
    try owner.waitForOutput("owning")
    var sender = try world.sender()
    for number in 1...5 { try sender.send(.init("\(number)")) }
    try owner.waitForOutput("keeping 3")
    try owner.end(with: SIGKILL)
    #expect(throws: MailboxError.ownerGone(world.name, unsettledCount: 3)) {
      try sender.settle(until: soon)
    }
    #expect(sender.unsettled.map(\.sequence) == [3, 4, 5])
    #expect(throws: MailboxError.ownerGone(world.name, unsettledCount: 3)) {
      try sender.send(.init("6"), until: soon)
    }
    #expect(throws: MailboxError.noOwner(world.name)) {
      try sender.reconnect(waitingForOwnerUntil: .now)
    }
    var successor = try world.own()
    try sender.reconnect(waitingForOwnerUntil: soon)
    try sender.send(.init("6"), until: soon)
    for number in 3...6 {
      let letter = try successor.letter()
      #expect(letter.sequence == UInt64(number))
      #expect(letter.payload == .init("\(number)"))
      #expect(letter.isRepeated == (number < 6))
      letter.acknowledge()
    }
    try sender.settle(until: soon)
  }

  /// Owners are killed at random moments. Every letter is processed; a letter that is processed
  /// twice is marked as repeated; and no letter is acknowledged unprocessed.
  @Test func noLetterIsLostWhenOwnersDieRepeatedly() throws {
    let world = try MailboxWorld()
    let seed = TestSeed(for: "noLetterIsLost")
    var random = seed.generator
    var sender: MailboxSender?
    var worked: Set<Int> = []
    var lastNumber = 0
    let total = 2000
    while lastNumber < total || sender?.unsettled.isEmpty == false {
      let owner = try world.worker("own")
      try owner.waitForOutput("owning")
      let killAfter = Int.random(in: 1...400, using: &random)
      do {
        if sender == nil {
          sender = try world.sender()
        } else {
          try sender?.reconnect(waitingForOwnerUntil: soon)
        }
        for _ in 0..<killAfter where lastNumber < total {
          try sender?.send(.init("\(lastNumber + 1)"), until: soon)
          lastNumber += 1
        }
        if lastNumber == total { try sender?.settle(until: soon) }
      }
      try owner.end(with: SIGKILL)
      let doubtful = Set((sender?.unsettled ?? []).map { Int($0.sequence) })
      for line in owner.output.text.split(separator: "\n") where line.hasPrefix("letter ") {
        let words = line.split(separator: " ")
        let number = try #require(Int(words[1]))
        #expect(worked.insert(number).inserted || words[2] == "repeated", "\(seed)")
      }
      for number in 1...lastNumber where !doubtful.contains(number) {
        #expect(worked.contains(number), "letter \(number) was processed by no owner; \(seed)")
      }
    }
    #expect(worked.count == total)
  }
}
