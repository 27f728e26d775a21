import CFrameLayout
import Platform

/// One peer's connection to a publisher, from its arrival to its end. The loop thread's alone.
final class Connection: @unchecked Sendable {  // because only the loop's thread touches it
  let socket: MessageSocket
  let peer: PeerCredentials
  let helloDeadline: Deadline

  /// What it asked for, and the memory that it was given to write.
  var request: SubscriberRequest?
  /// The place it was offered, and how many holds with it.
  var place: Int?
  var holds = 0
  /// Whether it has mapped that memory.
  var hasMapped = false
  /// Whether it has answered that offer: until then nobody may be there to read.
  var isSeated = false
  /// What wakes it, hung at its place.
  var bell: SharedDescriptor?
  /// Pools still to be sent, and sent but not yet mapped by the peer.
  var owedPools: [Pool] = []
  var unacknowledgedPools = 0
  var acknowledgedPools = 0
  /// Whether it is evicted soon, unless it acknowledges a pool.
  var isOnNotice = false
  var isEvicted = false
  /// Whether a later attempt to send owed pools is on its way.
  var isToBeFlushed = false

  private let loop: EventLoop
  /// Readable when the peer's process has ended, even if a child of it keeps the socket open.
  private let process: SharedDescriptor?
  private var socketToken: EventLoop.Token?
  private var processToken: EventLoop.Token?
  private var watchesRoom = false
  private(set) var peerHasEnded = false

  init(
    _ socket: consuming MessageSocket, peer: PeerCredentials, loop: EventLoop,
    helloDeadline: Deadline
  ) {
    process = socket.peerProcess()
    self.socket = socket
    self.peer = peer
    self.loop = loop
    self.helloDeadline = helloDeadline
  }

  /// The descriptor's number, unique while the connection lives.
  var id: Int32 { socket.descriptor.number }

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

  /// Asks to be called when the peer has made room in its socket.
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

/// What a subscriber asked for in its hello, and the memory that it alone is to write.
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

  /// Called once the subscriber has mapped the memory. The publisher reads it for each frame, and a
  /// hole punched into it would make each publish fault.
  func seal() throws(SystemError) {
    try page.add([.futureWrites, .seals])
    try semaphore?.seal()
  }
}
