import Platform

/// One peer's connection to a publisher, from its arrival to its end. The loop thread's alone.
final class Connection: @unchecked Sendable {  // because only the loop's thread touches it
  let socket: MessageSocket
  let peer: PeerCredentials
  let helloDeadline: Deadline

  /// The place it was offered, and how many holds with it.
  var place: Int?
  var holds = 0
  /// Whether it has answered that offer: until then nobody may be there to read.
  var isSeated = false
  /// What wakes it, hung at its place.
  var bell: SharedDescriptor?
  var semaphore: WakeSemaphore?
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
