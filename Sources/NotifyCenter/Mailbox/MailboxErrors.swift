import AppGroup
import Platform

/// Why a mailbox cannot be owned, or a letter cannot be sent.
public enum MailboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another process owns the mailbox.
  case taken(MailboxName)
  /// The mailbox has no owner, or got none before the deadline.
  case noOwner(MailboxName)
  /// The kernel's queue of senders that wait to connect is full.
  case notAccepting(MailboxName)
  /// The owner disconnected. It may or may not have processed the unsettled letters.
  case ownerGone(MailboxName, unsettledCount: Int)
  /// The deadline passed before there was room, or before every letter was answered.
  case timedOut(MailboxName, unsettledCount: Int)
  /// The owner dropped letters without acknowledging them.
  case returned(MailboxName, count: Int)
  /// The letter has more bytes than a mailbox takes.
  case tooLarge(byteCount: Int)
  /// This process may not take the role.
  case group(GroupError)
  /// The group's policy does not allow this role to use the mailbox that way.
  case notPermitted(NotificationRefusal)
  /// The owner refused this process.
  case turnedAway(MailboxName, MailboxTurnAway)
  /// The kernel denied access.
  case notAllowed(path: String)
  /// Another user's file is at the mailbox's path.
  case inTheWay(path: String, ownerID: UInt32)
  /// The process that answers is not allowed to own the mailbox, or violates the protocol.
  case untrusted(MailboxName, why: String)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .taken(let name):
      "the mailbox \(name) already has an owner; end that process, or use another name"
    case .noOwner(let name):
      "nobody owns the mailbox \(name); start the process that owns it, or wait for it with a "
        + "later deadline"
    case .notAccepting(let name):
      "the owner of the mailbox \(name) accepts no connections: it is stopped, or too many senders "
        + "connect; check these processes, or use a later deadline"
    case .ownerGone(let name, let count):
      "the owner of the mailbox \(name) disconnected with \(count) letters unacknowledged, which "
        + "it may have processed; reconnect to send them again, marked as repeated, or give up"
    case .timedOut(let name, let count):
      "the owner of the mailbox \(name) has not acknowledged \(count) letters in time; use a later "
        + "deadline, or send less"
    case .returned(let name, let count):
      "the owner of the mailbox \(name) returned \(count) letters without acknowledging them; take "
        + "them back with takeReturned"
    case .tooLarge(let byteCount):
      "a letter of \(byteCount) bytes is too large, the limit is \(Mailbox.maximumLetterBytes); "
        + "send several, or put the bytes into a file or a stream and send its name"
    case .group(let error): "\(error)"
    case .notPermitted(let refusal): "\(refusal)"
    case .turnedAway(let name, .role):
      "the owner of the mailbox \(name) accepts no letters from this user; ask the group's owner "
        + "to change post in [notifications.ROLE] of the manifest"
    case .turnedAway(let name, .crowd):
      "the mailbox \(name) has the maximum number of senders; end one, or try again later"
    case .notAllowed(let path):
      "no permission for \(path); only the roles host, capture and extension may own mailboxes, "
        + "each name one user at a time (`framebus group show` lists roles)"
    case .inTheWay(let path, let ownerID):
      "\(path) belongs to \(userText(ownerID)) and is in the mailbox's way; if that user may not "
        + "own the mailbox, ask them or the group's owner to remove it"
    case .untrusted(let name, let why):
      "the owner of the mailbox \(name) cannot be trusted: \(why); end it, and start the "
        + "intended one"
    case .system(let error): "\(error); `framebus group doctor` checks the group"
    }
  }
}

/// Why an owner refused a sender.
public enum MailboxTurnAway: UInt64, Sendable {
  /// No role of this user may post to a mailbox of this name.
  case role = 1
  /// The maximum number of senders is connected, in all or of this user.
  case crowd = 2
}

extension AppGroup {
  /// Checks that this process may take the role, and that the role may use the mailbox. Sending
  /// needs the permission to post the name; owning, to observe it.
  func require(
    _ action: NotificationPolicy.Action, as role: Role, mailbox name: MailboxName
  ) throws(MailboxError) {
    do { try require(role) } catch { throw .group(error) }
    do { try require(action, role: role, name: name.text) } catch { throw .notPermitted(error) }
  }

  /// Whether any role of a user may use a mailbox that way.
  func permits(
    _ action: NotificationPolicy.Action, _ peer: PeerCredentials, mailbox name: MailboxName
  ) -> Bool {
    guard let policy = notificationPolicy else { return false }
    return roles(uid: peer.uid, gid: peer.gid).contains {
      policy.permits(action, role: $0, name: name.text)
    }
  }
}
