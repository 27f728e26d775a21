import AppGroup
import Platform

/// Finds a mailbox's owner and connects to it.
struct OwnerSearch: Sendable {
  let name: MailboxName
  let group: AppGroup

  /// Poll interval in case the watch misses a new owner.
  private static let pollInterval: Duration = .milliseconds(500)
  /// Poll interval while the owner's queue of senders is full, of which no event reports the end.
  private static let fullQueueInterval: Duration = .milliseconds(5)

  init(_ name: MailboxName, in group: AppGroup) {
    self.name = name
    self.group = group
  }

  /// Waits for an owner and connects to it, blocking the thread.
  func run(until deadline: Deadline, stop: StopSignal?) throws(MailboxError) -> MessageSocket {
    var watch: OwnerWatch?
    while true {
      watch?.appeared.lower()
      do throws(MailboxError) {
        return try connect()
      } catch {
        guard !deadline.isPast, stop?.isRaised != true else { throw error }
        if error == .notAccepting(name) {
          _ = poll(
            -1, stop?.descriptorNumber, until: min(deadline, .after(Self.fullQueueInterval)))
          continue
        }
        guard error == .noOwner(name) else { throw error }
      }
      guard let watch else {
        // Made late, to cost nothing where the owner exists; then it connects once more.
        watch = try OwnerWatch(group.mailboxesPath)
        continue
      }
      _ = poll(
        watch.appeared.number, stop?.descriptorNumber,
        until: min(deadline, .after(Self.pollInterval)))
    }
  }

  /// Connects, and checks that the peer may own the mailbox.
  private func connect() throws(MailboxError) -> MessageSocket {
    do throws(SystemError) {
      let directory = try Directory(path: group.mailboxesPath)
      // Follow no link: it could lead to the socket of another mailbox or program of the owner's
      // user.
      let node = try directory.openNode(name.socketName)
      let path = directory.path(of: name.socketName)
      let kind = try fileStatus(of: node, path: path).kind
      guard kind == .socket else {
        throw SystemError(code: -1, operation: kind.rawValue, path: path)
      }
      let socket = try MessageSocket.connect(to: node)
      let peer = try socket.peer()
      if group.permits(.observe, peer, mailbox: name) { return socket }
      throw SystemError(code: -1, operation: "peer", path: "\(peer.uid)")
    } catch {
      if error.operation == "peer" {
        throw .untrusted(name, why: "no role of user \(error.path ?? "") may own it")
      }
      if error.code == -1 {
        throw .untrusted(name, why: "\(error.path ?? "") is a \(error.operation), not a socket")
      }
      if error.isFullQueue { throw .notAccepting(name) }
      if error.isAbsence { throw .noOwner(name) }
      throw error.isAccessRefusal ? .notAllowed(path: group.mailboxesPath) : .system(error)
    }
  }
}

/// Reports new entries in the directory of mailboxes.
private struct OwnerWatch {
  let appeared: EventCounter
  /// Nil if this process has no descriptor left.
  private let directory: DirectoryWatch?

  init(_ path: String) throws(MailboxError) {
    do { appeared = try EventCounter() } catch { throw .system(error) }
    let appeared = appeared
    directory = try? DirectoryWatch(path) { appeared.raise() }
  }
}
