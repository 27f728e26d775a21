import AppGroup
import Foundation
import NotifyCenter
import Platform
import TestSupport

/// A group in a temporary root, and helpers to use a mailbox in it.
struct MailboxWorld {
  let root: TemporaryRoot
  let group: AppGroup
  let name: MailboxName

  static let groupName = "org.example.test"

  init() throws {
    root = try TemporaryRoot(mode: 0o755)
    group = try AppGroup.create(GroupID(Self.groupName), root: root.path)
    name = try MailboxName("box")
  }

  func own() throws(MailboxError) -> Mailbox { try Mailbox(name, in: group, as: .host) }

  func sender() throws(MailboxError) -> MailboxSender {
    try MailboxSender(to: name, in: group, as: .host)
  }

  /// Arguments of a `MailboxWorker`: which end it is, and in which role.
  func arguments(_ end: String, as role: String = "host") -> [String] {
    [end, root.path, Self.groupName, name.text, role]
  }

  func worker(_ end: String, _ settings: String...) throws -> RunningProgram {
    try RunningProgram("MailboxWorker", arguments(end) + settings)
  }

  /// A peer that ignores the protocol: a bare connection to the owner.
  func stranger() throws -> MessageSocket {
    try MessageSocket.connect(to: "\(group.mailboxesPath)/\(name).sock")
  }

  /// Replaces the manifest's policy of notifications, and leaves permissions unchanged.
  func write(policy: String) throws {
    let path = group.containerPath + "/manifest.toml"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let roles = text.components(separatedBy: "\n[notifications")[0]
    try (roles + "\n" + policy).write(toFile: path, atomically: false, encoding: .utf8)
  }
}

/// A watchdog's deadline.
var soon: Deadline { .after(.seconds(60)) }

extension Mailbox {
  /// The next letter, which must arrive.
  mutating func letter() throws -> Letter {
    guard let letter = try receive(until: soon) else { throw HarnessError("no letter came") }
    return letter
  }

  /// Whether there is no letter now. A letter that is there is returned.
  mutating func isEmpty() throws -> Bool {
    if let letter = try receiveNow() {
      _ = letter.sequence
      return false
    }
    return true
  }
}

extension [UInt8] {
  init(_ text: String) { self = Array(text.utf8) }
}
