import CNotifyLayout
import Platform
import Synchronization

/// One user's seats in a table, as a poster sees them: what that user's processes wrote, who may
/// write nonsense there, and silence or wake nobody but each other.
final class SeatsView: Sendable {
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
    let file = try directory.openForReading(SeatFile.name)
    let found = try fileStatus(of: file, path: directory.path)
    guard found.kind == .file, found.ownerID == status.ownerID,
      found.byteCount == Int(NC_SEATS_BYTES)
    else { throw SystemError.untrusted(directory.path(of: SeatFile.name)) }
    memory = try GuardedMapping(file, byteCount: Int(NC_SEATS_BYTES), .read)
    // SYNC make/open: acquire side.
    guard memory.loadAcquiring64(at: Int(NC_AT_MAGIC)) == NC_SEATS_MAGIC,
      memory.loadAcquiring32(at: Int(NC_AT_ABI_VERSION)) == UInt32(NC_ABI_VERSION)
    else { throw SystemError.untrusted(directory.path(of: SeatFile.name)) }
    self.name = name
    ownerID = status.ownerID
    lines = (0..<Int(NC_SEATS)).map { _ in BellLine() }
    self.onStep = onStep
  }

  func isSame(as found: FileStatus) -> Bool {
    found.inode == status.inode && found.device == status.device
  }

  var isLost: Bool { memory.isLost }

  // MARK: Looking

  @inline(__always)
  func forEachObserver(ofRow row: Int, _ body: (Int) -> Void) {
    // SYNC observe/look: read after the post was counted, before a seat's bit.
    let count = memory.loadSequential64(at: Int(NC_AT_SEAT_WORDS))
    for word in 0..<Int(min(count, UInt64(NC_SEAT_WORDS))) {
      // SYNC observe/look: as above.
      var bits = memory.loadSequential64(at: SeatFile.offset(ofRow: row, word: word))
      while bits != 0 {
        body(word * 64 + bits.trailingZeroBitCount)
        bits &= bits - 1
      }
    }
  }

  private func armed(_ seat: Int) -> UInt64 {
    // SYNC post/observe: read after the post was counted.
    memory.loadSequential64(at: SeatFile.offset(ofSeat: seat) + Int(NC_SEAT_AT_ARMED))
  }

  private func tenure(_ seat: Int) -> UInt64 {
    // SYNC seat/ring: read after `armed`, which its new owner raised last.
    memory.loadSequential64(at: SeatFile.offset(ofSeat: seat) + Int(NC_SEAT_AT_TENURE))
  }

  func processID(ofSeat seat: Int) -> Int32 {
    // SYNC seat/ring: acquire side.
    Int32(
      truncatingIfNeeded: memory.loadAcquiring32(
        at: SeatFile.offset(ofSeat: seat) + Int(NC_SEAT_AT_PID)))
  }

  /// Whether a process of its owner receives there. Who may not ring cannot know: then it may.
  func isAlive(_ seat: Int) -> Bool {
    do throws(SystemError) {
      _ = try connect(to: seat)
      return true
    } catch {
      return error.operation == "connect" && error.isAccessRefusal
    }
  }

  // MARK: Ringing

  /// Whether the seat was not rung since it last armed, and will not be without this call.
  @inline(__always)
  func mustRing(_ seat: Int) -> Bool {
    let line = lines[seat]
    return line.rung.load(ordering: .acquiring) != armed(seat)
      && !line.isLeft.load(ordering: .sequentiallyConsistent)
  }

  /// Rings a seat, unless that may take long or comes too soon after the last time.
  /// - Returns: false if it is to be left to the wake thread.
  func ringQuickly(_ ring: Ring) -> Bool {
    let line = lines[ring.seat]
    if line.isSlow.load(ordering: .acquiring) { return false }
    let since = monotonicNowNs() &- line.rungAtNs.load(ordering: .acquiring)
    if since < BellLine.calmNs { return false }
    return line.connection.withLockIfAvailable { self.ring(ring, line, &$0) } ?? false
  }

  /// Says that the wake thread is going to ring a seat.
  /// - Returns: false if that was said before.
  func markLeft(_ seat: Int) -> Bool {
    !lines[seat].isLeft.exchange(true, ordering: .sequentiallyConsistent)
  }

  /// Wake thread: rings a seat that was left to it.
  /// - Returns: false if the kernel is short of something: then it is to be tried again.
  func ringLeft(_ ring: Ring) -> Bool {
    let line = lines[ring.seat]
    // First: from here on a post leaves the seat again.
    line.isLeft.store(false, ordering: .sequentiallyConsistent)
    if line.rung.load(ordering: .acquiring) == armed(ring.seat) { return true }
    return line.connection.withLock { self.ring(ring, line, &$0) }
  }

  private func ring(
    _ ring: Ring, _ line: BellLine, _ connection: inout BellLine.Connection
  ) -> Bool {
    let start = monotonicNowNs()
    line.rungAtNs.store(start, ordering: .releasing)
    let armed = armed(ring.seat)
    guard send(ring, &connection) else { return false }
    onStep?(.rung)
    // Sent first: whoever sees this leaves the seat alone.
    line.rung.store(armed, ordering: .releasing)
    line.isSlow.store(monotonicNowNs() &- start > BellLine.slowNs, ordering: .releasing)
    return true
  }

  /// Sends the datagram on the connection there is, or a new one. A full queue has bells enough:
  /// each connection is to one observer alone, so what fills it lies there unheard. And where
  /// nobody receives nobody sleeps.
  private func send(_ ring: Ring, _ connection: inout BellLine.Connection) -> Bool {
    let tenure = tenure(ring.seat)
    if connection.tenure == tenure, let result = connection.send(ring.words) {
      switch result {
      case .sent, .full: return true
      case .shortOfResources: return false
      case .gone: break
      }
    }
    connection = BellLine.Connection()
    do throws(SystemError) {
      let socket = try connect(to: ring.seat)
      let result = socket.send(ring.words)
      if BellLine.mayKeepConnection() {
        connection = BellLine.Connection(socket: socket, tenure: tenure)
      }
      return result != .shortOfResources
    } catch {
      return !error.isOutOfDescriptors
    }
  }

  /// A new connection, if a socket of the seats' owner lies there and its process lives.
  private func connect(to seat: Int) throws(SystemError) -> DatagramSocket {
    let node = try directory.openNode("\(seat)")
    let path = directory.path(of: "\(seat)")
    let found = try fileStatus(of: node, path: path)
    guard found.kind == .socket, found.ownerID == ownerID else { throw .untrusted(path) }
    return try DatagramSocket(sendingTo: node)
  }
}

/// A ring that is due: for whom, and which post it was that asked for it.
struct Ring: Sendable {
  let seats: SeatsView
  let seat: Int
  let row: Int
  let generation: UInt64

  var words: DatagramSocket.Words { [UInt64(row), generation] }
}

extension SystemError {
  static func untrusted(_ path: String) -> SystemError {
    SystemError(code: 1, operation: "trust", path: path)
  }
}
