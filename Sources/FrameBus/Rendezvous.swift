import AppGroup
import CFrameLayout
import Platform

/// Finds a stream's publisher in the group and attaches to it: connect, hello, welcome.
struct Rendezvous: Sendable {
  let stream: StreamName
  let group: AppGroup
  let hello: fb_hello

  /// A publisher's control plane answers within microseconds; one that takes longer is stopped.
  private static let patience: Duration = .seconds(10)

  /// Attaches as soon as there is a publisher to attach to.
  func attach(
    doorbell: Doorbell, until deadline: Deadline, retryInterval: Duration, stop: StopSignal?
  ) throws(SubscriberError) -> Attachment {
    var watch: DirectoryWatch?
    defer { withExtendedLifetime(watch) {} }
    while true {
      let bell = doorbell.word.load()
      do throws(SubscriberError) {
        return try attach(doorbell: doorbell, stop: stop)
      } catch {
        guard error.mayPass, !deadline.isPast else { throw error }
        if stop?.isRaised == true { throw .stopped }
        // Made late, so that it costs nothing where the publisher is there; then look once more.
        if watch == nil, let made = watchForPublishers(doorbell) {
          watch = made
          continue
        }
        doorbell.sleep(since: bell, stop: stop, until: min(deadline, .after(retryInterval)))
      }
    }
  }

  /// Rings when a publisher may have come. Nil if this user has as many watches as one may have;
  /// then only looking again and again helps, which all who wait do besides.
  func watchForPublishers(_ doorbell: Doorbell) -> DirectoryWatch? {
    try? DirectoryWatch(group.streamsPath) { doorbell.ring() }
  }

  /// Attaches to the publisher there is now.
  func attach(
    doorbell: Doorbell, stop: StopSignal?
  ) throws(SubscriberError) -> Attachment {
    let socket = try connect(to: StreamFiles(stream, in: group).socketPath)
    guard socket.send(hello) == .sent else { throw .noSuchStream(stream) }
    crashPoint(.helloSent)
    var message = try answer(from: socket, stop: stop)
    crashPoint(.welcomed)
    guard let header = message.header else {
      // The end of the connection: the publisher went meanwhile.
      throw message.isEmpty ? .noSuchStream(stream) : .untrusted(stream, "it answers garbage")
    }
    if header.kind == UInt32(FB_MESSAGE_REFUSED) {
      throw .refused(stream, refusal(in: message, header))
    }
    guard let welcome = message.record(fb_welcome(), kind: Int(FB_MESSAGE_WELCOME)),
      !message.isTruncated
    else { throw .untrusted(stream, "it answers garbage") }
    do {
      let loop = try EventLoop.shared()
      let attachment = try Attachment(
        welcome, &message, from: socket, stream: stream, doorbell: doorbell, loop: loop)
      try attachment.watch()
      crashPoint(.attached)
      return attachment
    } catch let error as Attachment.Untrusted {
      throw .untrusted(stream, error.reason)
    } catch let error as SystemError {
      throw .system(error)
    } catch {
      throw .untrusted(stream, "\(error)")
    }
  }

  /// A refusal by a publisher of another version still says which version that is: its header and
  /// the first two words stay as they are in every version.
  private func refusal(
    in message: borrowing Message, _ header: fb_message_header
  ) -> Refusal {
    guard header.abi_version == UInt32(FB_ABI_VERSION) else {
      return .version(publisher: Int(header.abi_version), mine: Int(FB_ABI_VERSION))
    }
    return message.record(fb_refusal(), kind: Int(FB_MESSAGE_REFUSED)).map(Refusal.init)
      ?? .malformed
  }

  /// Connects, and makes sure that a member of the group is at the other end.
  func connect(to path: String) throws(SubscriberError) -> MessageSocket {
    do throws(SystemError) {
      let socket = try MessageSocket.connect(to: path)
      let peer = try socket.peer()
      guard group.admits(uid: peer.uid, gid: peer.gid) else {
        throw SystemError(code: -1, operation: "peer", path: "\(peer.uid)")
      }
      return socket
    } catch {
      if error.operation == "peer" {
        throw .untrusted(stream, "user \(error.path ?? "") holds no role in the group")
      }
      // As many wait to be accepted as may: the publisher is stopped, or besieged.
      if error.isFullQueue { throw .noAnswer(stream) }
      throw error.isAbsence
        ? .noSuchStream(stream) : error.isAccessRefusal ? .notAllowed(path: path) : .system(error)
    }
  }

  private func answer(
    from socket: borrowing MessageSocket, stop: StopSignal?
  ) throws(SubscriberError) -> Message {
    let deadline = Deadline.after(Self.patience)
    while true {
      do throws(SystemError) {
        if let message = try Message(from: socket) { return message }
      } catch {
        throw .noSuchStream(stream)
      }
      if !socket.waitUntilReadable(until: deadline, stop: stop) {
        throw stop?.isRaised == true ? .stopped : .noAnswer(stream)
      }
    }
  }
}

extension SubscriberError {
  /// Whether a later try may succeed.
  var mayPass: Bool {
    switch self {
    case .noSuchStream, .noAnswer: true
    case .refused(_, let refusal): refusal.mayPass
    default: false
    }
  }
}
