import AppGroup
import CFrameLayout
import Platform
import Synchronization

/// The search for a stream's publisher: looks for it, says hello, takes its answer. A step at a
/// time and never blocking, so that whoever receives can do so without a publisher too; the
/// doorbell rings when there is a step to take.
struct PublisherSearch: ~Copyable, Sendable {
  /// How often a publisher is looked for that announced itself in no way we can see.
  static let retryInterval: Duration = .milliseconds(500)
  /// A publisher's control plane answers within microseconds; one that takes longer is stopped.
  private static let patience: Duration = .seconds(10)

  private let rendezvous: Rendezvous
  private let doorbell: Doorbell
  /// Rings when something appears in the streams' directory. A user may have few of these
  /// (inotify(7)), so none is kept for longer than the search.
  private var watch: DirectoryWatch?
  private var listens = false
  private var request: Request?
  /// What the answer to the request's hello brought.
  private var memory: OwnMemory?
  /// Looking costs system calls: it waits until the bell has rung, or for a while.
  private var bellOfLastLook: UInt32?
  private var nextLook = Deadline.now

  init(_ rendezvous: Rendezvous, _ doorbell: Doorbell) {
    self.rendezvous = rendezvous
    self.doorbell = doorbell
  }

  /// From now on the bell rings when a publisher may have come. Where this process can open no
  /// more descriptors, only looking again and again helps.
  mutating func listen() {
    guard !listens else { return }
    listens = true
    let doorbell = doorbell
    watch = try? DirectoryWatch(rendezvous.group.streamsPath) { doorbell.ring() }
    // One that came before the watch is found by looking once more.
    bellOfLastLook = nil
  }

  /// Takes a step. Never blocks.
  /// - Returns: the attachment, which ends the search; nil if the bell will ring.
  mutating func advance() throws(SubscriberError) -> Attachment? {
    if request == nil {
      let bell = doorbell.word.load()
      guard bell != bellOfLastLook || nextLook.isPast else { return nil }
      bellOfLastLook = bell
      nextLook = .after(Self.retryInterval)
      memory = nil
      request = try rendezvous.request(doorbell, answeredBy: .after(Self.patience))
    }
    guard let request else { return nil }
    let message: Message?
    do throws(SystemError) { message = try Message(from: request.socket.messages) } catch {
      // The publisher went meanwhile.
      self.request = nil
      throw .noSuchStream(rendezvous.stream)
    }
    guard let message else {
      guard request.deadline.isPast else { return nil }
      self.request = nil
      throw .noAnswer(rendezvous.stream)
    }
    if memory == nil, message.header?.kind == UInt32(FB_MESSAGE_PAGE) {
      do throws(SubscriberError) {
        memory = try rendezvous.memory(from: message, over: request.socket)
      } catch {
        self.request = nil
        throw error
      }
      request.listenAgain()
      return nil
    }
    self.request = nil
    request.end()
    let attachment = try rendezvous.attachment(
      from: message, memory, over: request.socket, doorbell)
    memory = nil
    watch = nil
    listens = false
    return attachment
  }

  /// Searches to the end, blocking the thread.
  /// - Parameter deadline: as of `Subscriber.init`.
  mutating func run(
    until deadline: Deadline?, stop: StopSignal?
  ) throws(SubscriberError) -> Attachment {
    let end = deadline ?? .after(Self.patience)
    var failure = SubscriberError.noAnswer(rendezvous.stream)
    while true {
      let bell = doorbell.word.load()
      do throws(SubscriberError) {
        if let attachment = try advance() { return attachment }
        if request != nil { failure = .noAnswer(rendezvous.stream) }
      } catch {
        // Without a deadline a publisher must be there; it may still be too busy to answer.
        // Or want for something just now, such as room for descriptors on their way.
        guard error.mayPass, deadline != nil || error.isOfMoment else { throw error }
        failure = error
      }
      if stop?.isRaised == true { throw .stopped }
      if end.isPast { throw failure }
      // Made late, so that it costs nothing where the publisher is there; then it looks once more.
      if request == nil, !listens {
        listen()
        continue
      }
      doorbell.sleep(since: bell, stop: stop, until: min(end, .after(Self.retryInterval)))
    }
  }
}

/// A hello that was sent and not answered yet.
final class Request: Sendable {
  let deadline: Deadline
  private let loop: EventLoop
  private let token: Mutex<EventLoop.Token?>
  // Last, so that it is closed last.
  let socket: SharedSocket

  /// Rings when the answer, or the end, is there.
  init(
    over socket: SharedSocket, _ doorbell: Doorbell, answeredBy deadline: Deadline
  ) throws(SystemError) {
    self.deadline = deadline
    self.socket = socket
    loop = try EventLoop.shared()
    token = Mutex(try loop.add(socket.number, [.readable, .once]) { _ in doorbell.ring() })
  }

  /// Rings for the next message too.
  func listenAgain() {
    token.withLock { token in
      if let token { loop.change(token, socket.number, to: [.readable, .once]) }
    }
  }

  /// Leaves the socket to its next owner.
  func end() {
    if let token = token.withLock({ $0.take() }) { loop.remove(token, socket.number) }
  }

  deinit { end() }
}
