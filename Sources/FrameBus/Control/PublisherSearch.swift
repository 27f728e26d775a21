import AppGroup
import CFrameLayout
import Platform
import Synchronization

/// The search for a stream's publisher: connects, sends a hello, receives the answer. It advances
/// in steps and never blocks, so that receiving does not block without a publisher. The doorbell
/// rings when the next step is possible.
struct PublisherSearch: ~Copyable, Sendable {
  /// How often to look for a publisher whose start cannot be observed.
  static let retryInterval: Duration = .milliseconds(500)
  /// A publisher's control plane answers within microseconds, unless it is stopped.
  private static let timeout: Duration = .seconds(10)

  private var rendezvous: Rendezvous
  private let doorbell: Doorbell
  /// Rings when an entry appears in the streams' directory. Watches per user are limited
  /// (inotify(7)), so it is kept only during the search.
  private var watch: DirectoryWatch?
  private var listens = false
  private var request: Request?
  /// The memory received in answer to the hello.
  private var memory: OwnMemory?
  /// Polling costs system calls, so it waits for the bell or for the retry interval.
  private var bellOfLastPoll: UInt32?
  private var nextPoll = Deadline.now

  init(_ rendezvous: Rendezvous, _ doorbell: Doorbell) {
    self.rendezvous = rendezvous
    self.doorbell = doorbell
  }

  /// From now on the bell rings when a publisher may have started. If this process cannot open more
  /// descriptors, the search polls instead.
  mutating func listen() {
    guard !listens else { return }
    listens = true
    let doorbell = doorbell
    watch = try? DirectoryWatch(rendezvous.group.streamsPath) { doorbell.ring() }
    // Another poll finds a publisher that started before the watch.
    bellOfLastPoll = nil
  }

  /// What the publishers found from now on read.
  mutating func state(_ demand: Demand) { rendezvous.demand = demand }

  /// Advances by one step. Never blocks.
  /// - Returns: the attachment, which ends the search; nil to wait for the bell.
  mutating func advance() throws(SubscriberError) -> Attachment? {
    if request == nil {
      let bell = doorbell.word.load()
      guard bell != bellOfLastPoll || nextPoll.isPast else { return nil }
      bellOfLastPoll = bell
      nextPoll = .after(Self.retryInterval)
      memory = nil
      request = try rendezvous.request(doorbell, answeredBy: .after(Self.timeout))
    }
    guard let request else { return nil }
    let message: Message?
    do throws(SystemError) { message = try Message(from: request.socket.messages) } catch {
      // The publisher has ended meanwhile.
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

  /// Searches until a publisher is found or the deadline passes. Blocks the thread.
  /// - Parameter deadline: as for `Subscriber.init`.
  mutating func run(
    until deadline: Deadline?, stop: StopSignal?
  ) throws(SubscriberError) -> Attachment {
    let end = deadline ?? .after(Self.timeout)
    var failure = SubscriberError.noAnswer(rendezvous.stream)
    while true {
      let bell = doorbell.word.load()
      do throws(SubscriberError) {
        if let attachment = try advance() { return attachment }
        if request != nil { failure = .noAnswer(rendezvous.stream) }
      } catch {
        // Without a deadline a publisher must exist. It may still be too busy to answer, or lack
        // resources for the moment, such as room for descriptors in flight.
        guard error.mayPass, deadline != nil || error.isTransient else { throw error }
        failure = error
      }
      if stop?.isRaised == true { throw .stopped }
      if end.isPast { throw failure }
      // Created late, so that it costs nothing if there is a publisher; then it polls once more.
      if request == nil, !listens {
        listen()
        continue
      }
      doorbell.sleep(since: bell, stop: stop, until: min(end, .after(Self.retryInterval)))
    }
  }
}

/// A hello that has not been answered yet.
final class Request: Sendable {
  let deadline: Deadline
  private let loop: EventLoop
  private let token: Mutex<EventLoop.Token?>
  // Last, so that it is closed last.
  let socket: SharedSocket

  /// Rings when the answer or the end of the connection arrives.
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

  /// Stops watching the socket, for its next owner.
  func end() {
    if let token = token.withLock({ $0.take() }) { loop.remove(token, socket.number) }
  }

  deinit { end() }
}
