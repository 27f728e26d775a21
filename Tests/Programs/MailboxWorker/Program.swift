import AppGroup
import NotifyCenter
import Platform
import WorkerSupport

/// One end of a mailbox, which a test can kill: `MailboxWorker own|send ROOT GROUP NAME ROLE
/// key=value…`. It reports on standard output, line by line.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 6, let role = Role(rawValue: arguments[5]) else {
      fatalError("usage: MailboxWorker own|send ROOT GROUP NAME ROLE …")
    }
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let name = try MailboxName(arguments[4])
    let settings = Settings(arguments.dropFirst(6))
    switch arguments[1] {
    case "own": try own(Mailbox(name, in: group, as: role), settings)
    case "send":
      try send(
        MailboxSender(
          to: name, in: group, as: role, waitingForOwnerUntil: .after(.seconds(60))),
        settings)
    default: fatalError("no role \(arguments[1])")
    }
  }
}

/// Acknowledges letters and reports them. Settings: `acknowledge` (how many; the rest it keeps).
private func own(_ opened: consuming Mailbox, _ settings: Settings) throws {
  var mailbox = opened
  say("owning")
  for _ in 0..<settings.number("acknowledge", .max) {
    guard let letter = try mailbox.receive() else { return }
    let text = "\(letter.sequence) \(letter.isRepeated ? "repeated" : "new")"
    // Reported first, because a killed owner may have processed what it reported.
    say(
      "letter \(text) of \(letter.sender.pid): \(String(decoding: letter.payload, as: UTF8.self))")
    letter.acknowledge()
  }
  guard let kept = try mailbox.receive() else { return }
  say("keeping \(kept.sequence)")
  sleep(until: .never)
}

/// Sends letters and stays. Settings: `count`, `settle` (whether to wait for acknowledgements).
private func send(_ connected: consuming MailboxSender, _ settings: Settings) throws {
  var sender = connected
  for number in 1...settings.number("count", 1) {
    try sender.send(Array("\(number)".utf8), until: .after(.seconds(60)))
  }
  if settings.number("settle", 0) == 1 { try sender.settle(until: .after(.seconds(60))) }
  say("sent")
  sleep(until: .never)
}
