import CFrameLayout
import Platform
import Synchronization

/// A subscriber's end of the control connection: receives pools and notices the publisher's death.
/// The loop's thread runs it; the subscriber reads the results.
final class PublisherLine: Sendable {
  private let pools: Mutex<[PoolView]>
  private let newest: Atomic<UInt32>
  /// What the subscriber has not handled yet, as bits of `News`.
  private let news = Atomic<UInt8>(0)
  private let application = Mutex<ApplicationID?>(nil)
  private let doorbell: Doorbell
  private let loop: EventLoop
  private let registration = Mutex<Registration>(Registration())
  private struct Registration {
    var socket: EventLoop.Token?
    var process: EventLoop.Token?
  }
  private let process: SharedDescriptor?
  private let socket: SharedSocket

  init(_ socket: SharedSocket, _ pool: PoolView, doorbell: Doorbell, loop: EventLoop) {
    pools = Mutex([pool])
    newest = Atomic(pool.generation)
    self.doorbell = doorbell
    self.loop = loop
    self.socket = socket
    process = try? socket.messages.peerProcess()
  }

  /// Takes the seat: only now does the publisher count this subscriber, and may begin to publish
  /// for it.
  /// - Returns: false if the publisher has died, or has withdrawn the seat.
  func takeSeat() -> Bool {
    socket.messages.send(fb_short_message(Int(FB_MESSAGE_SEATED))) == .sent
  }

  /// Begins to listen for messages and for the publisher's death. The loop retains this object
  /// until `end`.
  func watch() throws(SystemError) {
    let handler: EventLoop.Handler = { [self] events in handle(events) }
    let socketToken = try loop.add(socket.number, .readable, handler)
    registration.withLock { $0.socket = socketToken }
    guard let number = process?.number else { return }
    let processToken = try loop.add(number, .readable) { _ in handler(.hangUp) }
    registration.withLock { $0.process = processToken }
  }

  // MARK: The loop thread

  private func handle(_ events: EventLoop.Events) {
    // After a hang-up this is the last read: a pool may be queued behind a socketful of other
    // messages. Bounded even then, because another process may still hold the publisher's end.
    for _ in 0..<(events.isHangUp ? 4096 : 16) {
      let message: Message?
      // If the publisher died before it read all our messages, the first read fails (ECONNRESET),
      // and its own messages follow.
      do { message = try Message(from: socket.messages) } catch { continue }
      guard let message else { break }
      guard accept(message) else {
        end()
        break
      }
    }
    if events.isHangUp { end() }
    doorbell.ring()
  }

  /// - Returns: false if the publisher violated the protocol or closed the connection.
  private func accept(_ message: consuming Message) -> Bool {
    guard !message.isTruncated, let header = message.header else { return false }
    switch Int(header.kind) {
    case Int(FB_MESSAGE_LOOK): return message.descriptorCount == 0
    case Int(FB_MESSAGE_ANNOTATION):
      guard message.descriptorCount == 0,
        let record = message.record(fb_annotation(), kind: Int(FB_MESSAGE_ANNOTATION))
      else { return false }
      application.withLock { $0 = record.name }
      news.bitwiseOr(News.annotated.rawValue, ordering: .releasing)
      return true
    case Int(FB_MESSAGE_POOL):
      guard let record = message.record(fb_pool_message(), kind: Int(FB_MESSAGE_POOL)),
        let memory = message.takeDescriptor(), let pool = PoolView(record.pool, memory: memory)
      else { return false }
      pools.withLock { pools in
        pools = pools.filter { $0.generation >= record.oldest }.suffix(PoolView.mostKept - 1)
        pools.append(pool)
      }
      // Relaxed: only decides how early an old pool is unmapped.
      newest.store(pool.generation, ordering: .relaxed)
      crashPoint(.poolMapped)
      let acknowledgement = fb_short_message(
        Int(FB_MESSAGE_POOL_ACK), value: UInt64(pool.generation))
      defer { crashPoint(.poolAcknowledged) }
      return socket.messages.send(acknowledgement) == .sent
    default: return false
    }
  }

  /// Called when the bell's other end is closed, which only the publisher holds.
  func endWithBell() { loop.enqueue { [self] in handle(.hangUp) } }

  /// Stops listening. After the publisher's death the socket would stay readable forever.
  func end() {
    let tokens = registration.withLock { registration in
      defer { registration = Registration() }
      return registration
    }
    if let token = tokens.socket { loop.remove(token, socket.number) }
    if let token = tokens.process, let number = process?.number { loop.remove(token, number) }
    news.bitwiseOr(News.gone.rawValue, ordering: .releasing)
  }

  // MARK: The subscriber

  /// Read for each frame: one load for all of it.
  struct News: OptionSet {
    let rawValue: UInt8
    /// The publisher has exited or died.
    static let gone = News(rawValue: 1)
    /// There is an annotation that was not taken.
    static let annotated = News(rawValue: 2)
  }

  var currentNews: News { News(rawValue: news.load(ordering: .acquiring)) }

  /// The newest annotation.
  func takeAnnotation() -> ApplicationID? {
    // First, so that a change in between is reported again.
    news.bitwiseAnd(~News.annotated.rawValue, ordering: .acquiring)
    return application.withLock { $0 }
  }

  /// Where a pool is, at one moment: between two looks it may come.
  enum Whereabouts {
    case here(PoolView)
    case onItsWay
    /// Newer ones are here.
    case gone
  }

  func pool(_ generation: UInt32) -> Whereabouts {
    pools.withLock { pools in
      if let pool = pools.first(where: { $0.generation == generation }) { return .here(pool) }
      return pools.allSatisfy { $0.generation < generation } ? .onItsWay : .gone
    }
  }

  /// The generation of the newest pool.
  // Relaxed: only decides how early an old pool is unmapped.
  var newestPool: UInt32 { newest.load(ordering: .relaxed) }
}
