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
    do throws(Endpoint.ConnectError) {
      return try group.endpoint(of: name).connect { peer, _ in
        group.permits(.observe, peer, mailbox: name)
      }
    } catch {
      switch error {
      case .absent: throw .noOwner(name)
      case .busy: throw .notAccepting(name)
      case .notSocket(let path): throw .untrusted(name, why: "\(path) is a link, or not a socket")
      case .notAdmitted(let peer):
        throw .untrusted(name, why: "no role of user \(peer.uid) may own it")
      case .notAllowed: throw .notAllowed(path: group.mailboxesPath)
      case .failed(let error): throw .system(error)
      }
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
