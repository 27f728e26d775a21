import AppGroup
import CFrameLayout
import Platform

/// The subscriber's side of attaching: connect, hello, page, mapped, welcome, seated. Never blocks.
struct Rendezvous: Sendable {
  let stream: StreamName
  let group: AppGroup
  let hello: fb_hello
  /// Stated before the publisher counts this subscriber.
  var demand = Demand.everything

  /// Connects to the current publisher and sends a hello.
  func request(
    _ doorbell: Doorbell, answeredBy deadline: Deadline
  ) throws(SubscriberError) -> Request {
    let socket = SharedSocket(try connect())
    guard socket.messages.send(hello) == .sent else { throw .noSuchStream(stream) }
    crashPoint(.helloSent)
    do throws(SystemError) {
      return try Request(over: socket, doorbell, answeredBy: deadline)
    } catch { throw .system(error) }
  }

  /// Maps the page that the publisher sent, and confirms it.
  func memory(
    from answer: consuming Message, over socket: SharedSocket
  ) throws(SubscriberError) -> OwnMemory {
    let memory: OwnMemory
    do { memory = try OwnMemory(&answer) } catch { throw .untrusted(stream, error.reason) }
    crashPoint(.pageMapped)
    guard socket.messages.send(fb_short_message(Int(FB_MESSAGE_MAPPED))) == .sent else {
      throw .noSuchStream(stream)
    }
    return memory
  }

  /// Creates an attachment from the publisher's welcome.
  func attachment(
    from answer: consuming Message, _ memory: OwnMemory?, over socket: SharedSocket,
    _ doorbell: Doorbell
  ) throws(SubscriberError) -> Attachment {
    guard let header = answer.header else {
      // The end of the connection: the publisher has ended meanwhile.
      throw answer.isEmpty ? .noSuchStream(stream) : .untrusted(stream, "its answer is malformed")
    }
    if header.kind == UInt32(FB_MESSAGE_REFUSED) {
      throw .refused(stream, refusal(in: answer, header))
    }
    guard let welcome = answer.record(fb_welcome(), kind: Int(FB_MESSAGE_WELCOME)),
      !answer.isTruncated, let memory
    else { throw .untrusted(stream, "its answer is malformed") }
    do {
      let loop = try EventLoop.shared()
      let attachment = try Attachment(
        welcome, &answer, memory, from: socket, stream: stream, doorbell: doorbell, loop: loop)
      crashPoint(.welcomed)
      try attachment.watch()
      // The page has its first contents since the welcome.
      attachment.page.store(demand)
      guard attachment.takeSeat() else { throw SubscriberError.noSuchStream(stream) }
      crashPoint(.seated)
      return attachment
    } catch let error as Attachment.Untrusted {
      throw .untrusted(stream, error.reason)
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as SubscriberError {
      throw error
    } catch {
      throw .untrusted(stream, "\(error)")
    }
  }

  /// A refusal from a publisher of another version contains that version: its header and the first
  /// two words are the same in every version.
  private func refusal(
    in message: borrowing Message, _ header: fb_message_header
  ) -> Refusal {
    guard header.abi_version == UInt32(FB_ABI_VERSION) else {
      return .version(publisher: Int(header.abi_version), mine: Int(FB_ABI_VERSION))
    }
    return message.record(fb_refusal(), kind: Int(FB_MESSAGE_REFUSED)).map(Refusal.init)
      ?? .malformed
  }

  /// Connects, and verifies that the peer is a member of the group.
  func connect() throws(SubscriberError) -> MessageSocket {
    let endpoint = group.endpoint(of: stream)
    do throws(Endpoint.ConnectError) {
      return try endpoint.connect { peer, _ in group.admits(uid: peer.uid, gid: peer.gid) }
    } catch {
      switch error {
      case .absent: throw .noSuchStream(stream)
      case .busy: throw .noAnswer(stream)
      case .notSocket(let path): throw .untrusted(stream, "\(path) is a link, or not a socket")
      case .notAdmitted(let peer):
        throw .untrusted(stream, "user \(peer.uid) has no role in the group")
      case .notAllowed: throw .notAllowed(path: endpoint.socketPath)
      case .failed(let error): throw .system(error)
      }
    }
  }
}

extension AppGroup {
  /// Where a stream's publisher listens.
  package func endpoint(of stream: StreamName) -> Endpoint {
    Endpoint(stream.text, in: streamsPath)
  }
}

extension SubscriberError {
  /// Whether a later attempt may succeed.
  var mayPass: Bool {
    switch self {
    case .noSuchStream, .noAnswer: true
    case .refused(_, let refusal): refusal.mayPass
    default: false
    }
  }

  /// Whether the publisher is running but temporarily unable to answer.
  var isTransient: Bool {
    switch self {
    case .noAnswer, .refused(_, .outOfResources): true
    default: false
    }
  }
}
