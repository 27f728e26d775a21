import AppGroup
import Foundation
import Platform
import TestSupport
import Testing

@testable import NotifyCenter

/// Members that break every rule, and users that the policy excludes.
@Suite struct MailboxHostileTests {
  private func send(_ bytes: [UInt8], over socket: borrowing MessageSocket) {
    _ = unsafe socket.send(bytes.span.bytes)
  }

  /// Waits until the owner has disconnected.
  private func waitForEnd(of socket: borrowing MessageSocket) throws {
    var inbox = MailboxInbox()
    while socket.waitUntilReadable(until: soon) {
      if case .end = inbox.take(from: socket) { return }
    }
    throw HarnessError("the owner has not hung up")
  }

  @Test(arguments: [
    [], [0], Array("FBML".utf8), Array(repeating: 0xff, count: 24),
    Array(repeating: 0x41, count: 70_000),
    MailboxPacket(.acknowledged, sender: 1, sequence: 1).bytes(),
    Array(MailboxPacket(.letter, sender: 1, sequence: 1).bytes().dropLast()),
  ])
  func senderOfMalformedPacketsIsDisconnectedAndOthersAreServed(_ malformed: [UInt8]) throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    let stranger = try world.stranger()
    var sender = try world.sender()
    send(malformed, over: stranger)
    try sender.send(.init("hello"))
    let letter = try mailbox.letter()
    #expect(letter.payload == .init("hello"))
    letter.acknowledge()
    try sender.settle(until: soon)
    #expect(try mailbox.isEmpty())
    try waitForEnd(of: stranger)
  }

  @Test func descriptorInALetterIsClosed() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    let stranger = try world.stranger()
    let packet = MailboxPacket(.letter, sender: 1, sequence: 1).bytes()
    let readEnd: Descriptor
    do {
      let pipe = try OneWayPipe()
      _ = unsafe stranger.send(packet.span.bytes, descriptors: [pipe.writeEnd.number])
      readEnd = pipe.takeReadEnd()
    }
    #expect(try mailbox.isEmpty())
    // Disconnected: no process has the end that was sent.
    #expect(try waitUntilReadable([readEnd.number], until: soon) == [true])
  }

  @Test func floodingSenderIsDisconnectedAtTheLimitAndDelaysNoOther() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    let flood = try world.stranger()
    var sequence: UInt64 = 0
    let fill = { (flood: borrowing MessageSocket) in
      repeat {
        sequence += 1
      } while MailboxPacket(.letter, sender: 1, sequence: sequence).send(over: flood) == .sent
    }
    fill(flood)
    var sender = try world.sender()
    try sender.send(.init("hello"))
    // The letters are kept, as by a program that processes many at once.
    var kept: [LetterBox] = []
    repeat {
      let letter = try mailbox.letter()
      fill(flood)
      kept.append(LetterBox(letter))
    } while kept.last?.text != "hello"
    #expect(kept.count <= 3, "\(kept.count) letters came before the one of another sender")
    while let letter = try mailbox.receiveNow() {
      kept.append(LetterBox(letter))
      fill(flood)
    }
    #expect(kept.count == Mailbox.maximumUnsettledCount + 1)
    // Letters being processed keep the connection on which they are answered.
    kept = []
    try waitForEnd(of: flood)
  }

  @Test func sendersOfOneUserAreLimited() throws {
    let world = try MailboxWorld()
    var mailbox = try world.own()
    var senders: [SharedSocket] = []
    for _ in 0..<Mailbox.maximumSenderCountOfUser {
      senders.append(SharedSocket(try world.stranger()))
      #expect(try mailbox.isEmpty())
    }
    var late = try world.sender()
    #expect(try mailbox.isEmpty())
    #expect(throws: MailboxError.turnedAway(world.name, .crowd)) {
      try late.send([1], until: soon)
      try late.settle(until: soon)
    }
    senders.removeLast()
    #expect(try mailbox.isEmpty())
    try late.reconnect(waitingForOwnerUntil: soon)
    try late.send([2], until: soon)
    #expect(try mailbox.letter().payload.count == 1)
  }

  @Test func malformedAnswersOfAnOwnerAreRejected() throws {
    let world = try MailboxWorld()
    let path = "\(world.group.mailboxesPath)/\(world.name).sock"
    let listener = try ListeningSocket(at: path, mode: 0o666)
    var sender = try world.sender()
    try sender.send([1])
    guard let connection = try listener.accept() else { throw HarnessError("nobody came") }
    let accepted = SharedSocket(connection)
    _ = MailboxPacket(.acknowledged, sender: sender.id, sequence: 2).send(over: accepted.messages)
    #expect(throws: MailboxError.untrusted(world.name, why: "it sent an unexpected answer")) {
      try sender.settle(until: soon)
    }
    #expect(sender.unsettled.count == 1)
  }

  @Test func bothSidesCheckThePolicy() throws {
    let world = try MailboxWorld()
    let nothing = ["host", "capture", "extension"].map {
      "[notifications.\($0)]\npost = []\nobserve = [\"bo\"]\n"
    }.joined()
    var mailbox = try world.own()
    try world.write(policy: nothing)
    #expect(throws: MailboxError.self) { _ = try world.sender() }
    let stranger = try world.stranger()
    #expect(try mailbox.isEmpty())
    var inbox = MailboxInbox()
    guard stranger.waitUntilReadable(until: soon),
      case .packet(let packet, _) = inbox.take(from: stranger)
    else {
      throw HarnessError("no packet came")
    }
    #expect(packet.kind == .turnedAway)
    #expect(packet.sequence == MailboxTurnAway.role.rawValue)
  }

  @Test(.enabled(if: TestUser.canBeCreated, "only root can make users"))
  func otherUserMaySendAsTheRolesPolicyAllows() throws {
    let world = try MailboxWorld()
    let user = try TestUser()
    let viewer = try #require(Role(rawValue: "viewer"))
    try AppGroup.grant(viewer, to: .user(user.uid), in: world.group.id, root: world.root.path)
    var mailbox = try world.own()
    let arguments = world.arguments("send", as: "viewer")
    let sender = try user.start("MailboxWorker", arguments + ["settle=1"])
    let letter = try mailbox.letter()
    #expect(letter.sender.uid == user.uid)
    #expect(letter.sender.pid == sender.processID)
    letter.acknowledge()
    try sender.waitForOutput("sent")
    let stranger = try user.run("MailboxWorker", world.arguments("send", as: "host"))
    #expect(stranger.output.contains("does not hold the role host"))
    let owner = try user.run("MailboxWorker", world.arguments("own", as: "viewer"))
    #expect(owner.output.contains("belongs to uid 0 (root) and is in the mailbox"))
    try world.write(policy: "[notifications.viewer]\npost = []\n")
    let refused = try user.run("MailboxWorker", arguments)
    #expect(refused.output.contains("the role viewer may not post “box”"))
    let log = world.group.containerPath + "/audit/\(user.uid).log"
    #expect(try output(of: "cat", [log]).hasSuffix(" role viewer refused to post “box”\n"))
  }

  /// Every user who may own a mailbox may create files there, of any name.
  @Test(arguments: ["mkdir PATH.sock", "mkdir PATH.sock.new", "touch PATH.lock"])
  func errorNamesFileAndUserThatBlockTheMailbox(_ command: String) throws {
    guard TestUser.canBeCreated else { return }
    let squatter = try TestUser()
    let world = try MailboxWorld()
    let path = "\(world.group.mailboxesPath)/\(world.name)"
    let line = "\(command); chown \(squatter.uid) PATH.*"
    try output(of: "sh", ["-c", line.replacingOccurrences(of: "PATH", with: path)])
    do {
      _ = try world.own()
      Issue.record("it is owned")
    } catch MailboxError.inTheWay(let found, let ownerID) {
      #expect(found.hasPrefix(path) && ownerID == squatter.uid)
    }
    // Files made on the way were removed.
    #expect(try output(of: "ls", [world.group.mailboxesPath]).split(separator: "\n").count == 1)
  }

  /// A user who may create files there could redirect letters to another mailbox of the owner's
  /// user.
  @Test(arguments: ["ln -s PATH.other PATH.sock", "mkfifo PATH.sock", "mkdir PATH.sock"])
  func senderConnectsOnlyToSockets(_ command: String) throws {
    let world = try MailboxWorld()
    let owner = try world.worker("own")
    try owner.waitForOutput("owning")
    let path = "\(world.group.mailboxesPath)/\(world.name)"
    let line = "mv PATH.sock PATH.other; \(command)"
    try output(of: "sh", ["-c", line.replacingOccurrences(of: "PATH", with: path)])
    #expect(throws: MailboxError.self) { try connect(world) }
  }

  private func connect(_ world: MailboxWorld) throws {
    do { _ = try world.sender() } catch {
      guard case .untrusted(_, let why) = error, why.hasSuffix("not a socket") else {
        throw HarnessError("\(error)")
      }
      throw error
    }
  }

  @Test func ownerWithoutDescriptorsPausesAndListensAgain() throws {
    let world = try MailboxWorld()
    let owner = try RunningProgram(
      "sh",
      ["-c", "ulimit -n 16; exec \"$@\"", "sh", try pathOfProgram("MailboxWorker")]
        + world.arguments("own"))
    try owner.waitForOutput("owning")
    let crowd = try (1...30).map { _ in SharedSocket(try world.stranger()) }
    let facts = ProcessFacts(owner.processID)
    try waitUntil("the owner has no descriptor left") { try facts.descriptorCount >= 16 }
    let before = try facts.userTicks + facts.systemTicks
    sleep(until: .after(.seconds(1)))
    // A spinning thread uses 100 ticks per second, less what other threads take.
    #expect(try facts.userTicks + facts.systemTicks - before < 20)
    for socket in crowd { _ = shutdown(socket.number, Int32(SHUT_RDWR)) }
    var sender = try world.sender()
    try sender.send(.init("hello"))
    try owner.waitForOutput("hello")
  }
}

/// A letter in a class, so that an array can hold it.
private final class LetterBox {
  let letter: Letter
  var text: String { String(decoding: letter.payload, as: UTF8.self) }

  init(_ letter: consuming Letter) { self.letter = letter }
}
