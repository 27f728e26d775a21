import AppGroup
import Platform

/// Why a mailbox cannot be owned, or a letter not be sent.
public enum MailboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another process owns the mailbox.
  case taken(MailboxName)
  /// Nobody owns the mailbox, or nobody did in time.
  case noOwner(MailboxName)
  /// As many senders wait to be let in as the kernel lets wait.
  case besieged(MailboxName)
  /// The owner went. So many letters are in doubt: it may have worked on them or not.
  case ownerGone(MailboxName, unsettledCount: Int)
  /// No room came free, or not every letter was answered, before the deadline.
  case timedOut(MailboxName, unsettledCount: Int)
  /// The owner let letters go without acknowledging them.
  case returned(MailboxName, count: Int)
  case tooLarge(byteCount: Int)
  /// This process does not hold the role.
  case group(GroupError)
  /// The group's policy does not let this role use the mailbox so.
  case notPermitted(NotificationRefusal)
  /// The owner turned this process away.
  case turnedAway(MailboxName, MailboxTurnAway)
  /// The kernel refused.
  case notAllowed(path: String)
  /// What another user made lies where the mailbox would.
  case inTheWay(path: String, ownerID: UInt32)
  /// Who answers is no owner to be trusted.
  case untrusted(MailboxName, why: String)
  case system(SystemError)

  public var description: String {
    switch self {
    case .taken(let name):
      "the mailbox \(name) has an owner already; end that process, or use another name"
    case .noOwner(let name):
      "nobody owns the mailbox \(name); start the process that does, or wait for it with a later "
        + "deadline"
    case .besieged(let name):
      "the owner of the mailbox \(name) lets nobody in: it is stopped, or more senders come than "
        + "it can look at; see who they are, or give it more time with a later deadline"
    case .ownerGone(let name, let count):
      "the owner of the mailbox \(name) has gone, and \(count) letters were not acknowledged; it "
        + "may have worked on them: reconnect to send them again, marked as repeated, or give up"
    case .timedOut(let name, let count):
      "the owner of the mailbox \(name) still has \(count) letters to acknowledge; give it more "
        + "time, or send less"
    case .returned(let name, let count):
      "the owner of the mailbox \(name) returned \(count) letters without acknowledging them; take "
        + "them back with takeReturned"
    case .tooLarge(let byteCount):
      "a letter of \(byteCount) bytes is too large; \(Mailbox.maximumLetterBytes) are the most: "
        + "send several, or put the bytes into a file or a stream and send its name"
    case .group(let error): "\(error)"
    case .notPermitted(let refusal): "\(refusal)"
    case .turnedAway(let name, .role):
      "the owner of the mailbox \(name) takes no letters from this user; ask the group's owner to "
        + "change post in [notifications.ROLE] of the manifest"
    case .turnedAway(let name, .crowd):
      "the mailbox \(name) has as many senders as it takes; end one, or try again later"
    case .notAllowed(let path):
      "no permission for \(path); mailboxes are owned by hosts, captures and extensions, each name "
        + "by one user at a time (`framebus group show` lists roles)"
    case .inTheWay(let path, let ownerID):
      "\(path) belongs to \(userText(ownerID)) and lies where the mailbox would; if that is no "
        + "owner of it, have them or the group's owner remove it"
    case .untrusted(let name, let why):
      "the owner of the mailbox \(name) cannot be trusted: \(why); end it, and start the right one"
    case .system(let error): "\(error); `framebus group doctor` checks the group"
    }
  }
}

/// Why an owner turned a sender away.
public enum MailboxTurnAway: UInt64, Sendable {
  /// No role of this user may post to a mailbox of this name.
  case role = 1
  /// There are as many senders as there can be, altogether or of this user.
  case crowd = 2
}

extension AppGroup {
  /// Makes sure that this process holds a role, and that the role may use a mailbox so: sending is
  /// posting, owning is observing.
  func require(
    _ action: NotificationPolicy.Action, as role: Role, mailbox name: MailboxName
  ) throws(MailboxError) {
    do { try require(role) } catch { throw .group(error) }
    do { try require(action, role: role, name: name.text) } catch { throw .notPermitted(error) }
  }

  /// Whether any role of a user may use a mailbox so.
  func permits(
    _ action: NotificationPolicy.Action, _ peer: PeerCredentials, mailbox name: MailboxName
  ) -> Bool {
    guard let policy = notificationPolicy else { return false }
    return roles(uid: peer.uid, gid: peer.gid).contains {
      policy.permits(action, role: $0, name: name.text)
    }
  }
}
