import CFrameLayout
import Platform

/// One peer's connection to a publisher. Used by the loop's thread alone.
final class Connection: @unchecked Sendable {  // because only the loop's thread touches it
  let socket: MessageSocket
  let peer: PeerCredentials
  let helloDeadline: Deadline

  /// The peer's request, and the memory that it was given to write.
  var request: SubscriberRequest?
  /// The offered seat, and the number of holds with it.
  var seat: Int?
  var holds = 0
  /// Whether the peer has mapped that memory.
  var hasMapped = false
  /// Whether the peer has answered the offer; until then it may have died.
  var isSeated = false
  /// The peer's bell, registered in `Bells` at its seat.
  var bell: SharedDescriptor?
  /// Pools to be sent, and pools sent but not yet mapped by the peer.
  var owedPools: [Pool] = []
  var unacknowledgedPools = 0
  var acknowledgedPools = 0
  /// Whether the peer will be evicted unless it acknowledges a pool.
  var isOnNotice = false
  var isEvicted = false
  /// Whether the annotation has changed since it was last sent.
  var owesAnnotation = false
  /// Whether another attempt to send owed pools is scheduled.
  var isToBeFlushed = false

  private let loop: EventLoop
  /// Readable when the peer's process has ended, even if a child process keeps the socket open.
  private let process: SharedDescriptor?
  private var socketToken: EventLoop.Token?
  private var processToken: EventLoop.Token?
  private var watchesRoom = false
  private(set) var peerHasEnded = false

  init(
    _ socket: consuming MessageSocket, peer: PeerCredentials, loop: EventLoop,
    helloDeadline: Deadline
  ) {
    process = try? socket.peerProcess()
    self.socket = socket
    self.peer = peer
    self.loop = loop
    self.helloDeadline = helloDeadline
  }

  /// The descriptor's number, unique while the connection lives.
  var id: Int32 { socket.descriptor.number }

  /// Whether changes of the annotation are sent to this peer.
  var wantsAnnotation: Bool {
    let extras = request?.hello.extras ?? 0
    return seat != nil && !isEvicted && extras & UInt64(FB_EXTRA_ANNOTATION) != 0
  }

  /// - Returns: false if the loop cannot watch it.
  func watch(_ handler: @escaping EventLoop.Handler) -> Bool {
    do throws(SystemError) {
      socketToken = try loop.add(id, .readable, handler)
      if let number = process?.number {
        processToken = try loop.add(number, .readable) { [weak self] _ in
          self?.peerHasEnded = true
          handler(.hangUp)
        }
      }
      return true
    } catch { return false }
  }

  /// Starts or stops watching for room in the peer's socket.
  func watchForRoom(_ wanted: Bool) {
    guard wanted != watchesRoom, let socketToken else { return }
    watchesRoom = wanted
    loop.change(socketToken, id, to: wanted ? [.readable, .writable] : .readable)
  }

  deinit {
    if let socketToken { loop.remove(socketToken, id) }
    if let processToken, let number = process?.number { loop.remove(processToken, number) }
  }
}

/// A subscriber's hello, and the memory that only this subscriber writes.
final class SubscriberRequest: Sendable {
  let hello: fb_hello
  let page: MemoryFile
  let semaphore: WakeSemaphore?

  init(_ hello: fb_hello) throws(SystemError) {
    self.hello = hello
    page = try MemoryFile(named: "framebus-page", byteCount: PageRow.pageBytes)
    try page.add(.size)
    semaphore = hello.wait == UInt32(FB_WAIT_SEMAPHORE) ? try WakeSemaphore() : nil
  }

  var descriptors: [Int32] {
    [page.descriptor.number] + (semaphore.map { [$0.number] } ?? [])
  }

  /// Seals the memory. Called once the subscriber has mapped it: the publisher reads it for each
  /// frame, and a hole punched into it would make each publish fault.
  func seal() throws(SystemError) {
    try page.add([.futureWrites, .seals])
    try semaphore?.seal()
  }
}
