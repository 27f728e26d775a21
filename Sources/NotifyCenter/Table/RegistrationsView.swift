import CNotifyLayout
import Platform
import Synchronization

/// One user's registrations in a table, as a poster reads them. That user's processes can write any
/// bytes there, which affects no observers but their own.
final class RegistrationsView: Sendable {
  let name: String
  let ownerID: UInt32
  private let directory: Directory
  private let status: FileStatus
  private let memory: GuardedMapping
  private let lines: [BellLine]
  private let onStep: OnStep

  init(
    _ name: String, in parent: borrowing Directory, _ onStep: OnStep
  ) throws(SystemError) {
    directory = try parent.openDirectory(name)
    status = try directory.status()
    let file = try directory.openForReading(RegistrationFile.name)
    let found = try fileStatus(of: file, path: directory.path)
    guard found.kind == .file, found.ownerID == status.ownerID,
      found.byteCount == Int(NC_SEATS_BYTES)
    else { throw SystemError.untrusted(directory.path(of: RegistrationFile.name)) }
    memory = try GuardedMapping(file, byteCount: Int(NC_SEATS_BYTES), .read)
    // SYNC make/open: acquire side.
    guard memory.loadAcquiring64(at: Int(NC_AT_MAGIC)) == NC_SEATS_MAGIC,
      memory.loadAcquiring32(at: Int(NC_AT_ABI_VERSION)) == UInt32(NC_ABI_VERSION)
    else { throw SystemError.untrusted(directory.path(of: RegistrationFile.name)) }
    self.name = name
    ownerID = status.ownerID
    lines = (0..<Int(NC_SEATS)).map { _ in BellLine() }
    self.onStep = onStep
  }

  func isSame(as found: FileStatus) -> Bool {
    found.inode == status.inode && found.device == status.device
  }

  var isLost: Bool { memory.isLost }

  // MARK: Reading

  @inline(__always)
  func forEachObserver(ofRow row: Int, _ body: (Int) -> Void) {
    // SYNC observe/look: read after the post was counted, before a registration's bit.
    let count = memory.loadSequential64(at: Int(NC_AT_SEAT_WORDS))
    for word in 0..<Int(min(count, UInt64(NC_SEAT_WORDS))) {
      // SYNC observe/look: as above.
      var bits = memory.loadSequential64(at: RegistrationFile.offset(ofRow: row, word: word))
      while bits != 0 {
        body(word * 64 + bits.trailingZeroBitCount)
        bits &= bits - 1
      }
    }
  }

  private func armed(_ index: Int) -> UInt64 {
    // SYNC post/observe: read after the post was counted.
    memory.loadSequential64(
      at: RegistrationFile.offset(ofRegistration: index) + Int(NC_SEAT_AT_ARMED))
  }

  private func tenure(_ index: Int) -> UInt64 {
    // SYNC seat/ring: read after `armed`, which its new owner raised last.
    memory.loadSequential64(
      at: RegistrationFile.offset(ofRegistration: index) + Int(NC_SEAT_AT_TENURE))
  }

  func processID(ofRegistration index: Int) -> Int32 {
    // SYNC seat/ring: acquire side.
    Int32(
      truncatingIfNeeded: memory.loadAcquiring32(
        at: RegistrationFile.offset(ofRegistration: index) + Int(NC_SEAT_AT_PID)))
  }

  /// Whether a process receives there. True if this process may not ring it and so cannot know.
  func isAlive(_ index: Int) -> Bool {
    do throws(SystemError) {
      _ = try connect(to: index)
      return true
    } catch {
      return error.operation == "connect" && error.isAccessRefusal
    }
  }

  // MARK: Ringing

  /// Whether the registration was not rung since it last armed, and no ring is queued.
  @inline(__always)
  func mustRing(_ index: Int) -> Bool {
    let line = lines[index]
    return line.rung.load(ordering: .acquiring) != armed(index)
      && !line.isQueued.load(ordering: .sequentiallyConsistent)
  }

  /// Rings a registration, unless that may take long or follows the last ring too soon.
  /// - Returns: false if the wake thread must ring.
  func ringQuickly(_ ring: Ring) -> Bool {
    let line = lines[ring.index]
    if line.isSlow.load(ordering: .acquiring) { return false }
    let since = monotonicNowNs() &- line.rungAtNs.load(ordering: .acquiring)
    if since < BellLine.calmNs { return false }
    return line.connection.withLockIfAvailable { self.ring(ring, line, &$0) } ?? false
  }

  /// Notes that the wake thread is going to ring a registration.
  /// - Returns: false if that was already noted.
  func markQueued(_ index: Int) -> Bool {
    !lines[index].isQueued.exchange(true, ordering: .sequentiallyConsistent)
  }

  /// Rings a queued registration, on the wake thread.
  /// - Returns: false if the kernel is short of resources and the ring must be retried.
  func ringQueued(_ ring: Ring) -> Bool {
    let line = lines[ring.index]
    // Cleared first, because a later post must queue the registration again.
    line.isQueued.store(false, ordering: .sequentiallyConsistent)
    if line.rung.load(ordering: .acquiring) == armed(ring.index) { return true }
    return line.connection.withLock { self.ring(ring, line, &$0) }
  }

  private func ring(
    _ ring: Ring, _ line: BellLine, _ connection: inout BellLine.Connection
  ) -> Bool {
    let start = monotonicNowNs()
    line.rungAtNs.store(start, ordering: .releasing)
    let armed = armed(ring.index)
    let startCPUNs = line.mayBeSlow.load(ordering: .acquiring) ? threadProcessorTimeNs() : nil
    guard send(ring, &connection) else { return false }
    onStep?(.rung)
    // Stored after sending, because a poster that sees it does not ring.
    line.rung.store(armed, ordering: .releasing)
    noteTime(since: start, startCPUNs, line)
    return true
  }

  /// A ring that took long is slow if its processor time says so: an observer that takes this
  /// thread's processor when it wakes is not. The next ring after a long one measures that.
  private func noteTime(since start: UInt64, _ startCPUNs: UInt64?, _ line: BellLine) {
    let isLong = monotonicNowNs() &- start > BellLine.slowNs
    line.mayBeSlow.store(isLong, ordering: .releasing)
    guard isLong, let startCPUNs else { return line.isSlow.store(false, ordering: .releasing) }
    let isSlow = threadProcessorTimeNs() &- startCPUNs > BellLine.slowNs
    line.isSlow.store(isSlow, ordering: .releasing)
  }

  /// Sends the datagram on the existing connection, or on a new one. A full queue needs no more:
  /// each connection leads to one observer only, which has yet to read what fills it. And where no
  /// process receives, none sleeps.
  private func send(_ ring: Ring, _ connection: inout BellLine.Connection) -> Bool {
    let tenure = tenure(ring.index)
    if connection.tenure == tenure, let result = connection.send(ring.words) {
      switch result {
      case .sent, .full: return true
      case .shortOfResources: return false
      case .gone: break
      }
    }
    connection = BellLine.Connection()
    do throws(SystemError) {
      let socket = try connect(to: ring.index)
      let result = socket.send(ring.words)
      if BellLine.mayKeepConnection() {
        connection = BellLine.Connection(socket: socket, tenure: tenure)
      }
      return result != .shortOfResources
    } catch {
      return !error.isOutOfDescriptors
    }
  }

  /// A new connection, if the path has a socket of the registrations' owner with a living process.
  private func connect(to index: Int) throws(SystemError) -> DatagramSocket {
    let node = try directory.openNode("\(index)")
    let path = directory.path(of: "\(index)")
    let found = try fileStatus(of: node, path: path)
    guard found.kind == .socket, found.ownerID == ownerID else { throw .untrusted(path) }
    return try DatagramSocket(sendingTo: node)
  }
}

/// A ring to send: to which registration, and for which post.
struct Ring: Sendable {
  let registrations: RegistrationsView
  let index: Int
  let row: Int
  let generation: UInt64

  var words: DatagramSocket.Words { [UInt64(row), generation] }
}

extension SystemError {
  static func untrusted(_ path: String) -> SystemError {
    SystemError(code: 1, operation: "trust", path: path)
  }
}
