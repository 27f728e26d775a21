import AppGroup
import Platform

/// The search for a mailbox's owner.
struct OwnerSearch: Sendable {
  let name: MailboxName
  let group: AppGroup

  /// How often to look where nothing tells of a new owner.
  private static let retryInterval: Duration = .milliseconds(500)
  /// How often to knock where as many wait as may: nothing tells of a place.
  private static let knockInterval: Duration = .milliseconds(5)

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
        if error == .besieged(name) {
          _ = poll(
            -1, stop?.descriptorNumber, until: min(deadline, .after(Self.knockInterval)))
          continue
        }
        guard error == .noOwner(name) else { throw error }
      }
      guard let watch else {
        // Made late, so that it costs nothing where the owner is there; then it looks once more.
        watch = try OwnerWatch(group.mailboxesPath)
        continue
      }
      _ = poll(
        watch.appeared.number, stop?.descriptorNumber,
        until: min(deadline, .after(Self.retryInterval)))
    }
  }

  /// Connects, and makes sure that a member who may own the mailbox is at the other end.
  private func connect() throws(MailboxError) -> MessageSocket {
    do throws(SystemError) {
      let directory = try Directory(path: group.mailboxesPath)
      // A link could lead to the socket of another mailbox, or program, of the owner's user: none
      // is followed.
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
      if error.isFullQueue { throw .besieged(name) }
      if error.isAbsence { throw .noOwner(name) }
      throw error.isAccessRefusal ? .notAllowed(path: group.mailboxesPath) : .system(error)
    }
  }
}

/// Tells when something appears in the directory of mailboxes.
private struct OwnerWatch {
  let appeared: EventCounter
  /// None where this process has as many descriptors as it may have.
  private let directory: DirectoryWatch?

  init(_ path: String) throws(MailboxError) {
    do { appeared = try EventCounter() } catch { throw .system(error) }
    let appeared = appeared
    directory = try? DirectoryWatch(path) { appeared.raise() }
  }
}
