import CNotifyLayout
import Platform
import Synchronization

/// This center's registration as an observer in a table (a *seat* in the byte layout): a socket for
/// its doorbell, a word that says when it may sleep, and a bit for each name it observes.
final class Registration: Sendable {
  static let maximumCount = Int(NC_SEATS)

  let number: Int
  private let directory: Directory
  private let lock: Descriptor
  private let memory: GuardedMapping
  private let socket: DatagramSocket
  private let socketInode: UInt64
  private let onStep: OnStep
  /// Whether bits may stay set until the next owner.
  private let mayLeaveMarks = Atomic<Bool>(false)
  /// The claims of the datagrams that were drained last.
  private let hints = Mutex<[Hint]>([])

  /// Takes the first registration that no living process has.
  /// - Returns: nil if all in this directory are taken.
  init?(in directory: consuming Directory, _ epoch: EpochWord, _ onStep: OnStep)
    throws(SystemError)
  {
    let lock = try directory.openForInspection(RegistrationFile.lockName)
    let file = try directory.openForInspection(RegistrationFile.name)
    let memory = try GuardedMapping(file, byteCount: Int(NC_SEATS_BYTES))
    var number = 0
    while try !lock.lockByte(number) {
      number += 1
      if number == Int(NC_SEATS) { return nil }
    }
    onStep?(.seatLocked)
    let name = "\(number)"
    let temporary = ".new-\(number)"
    try directory.removeFile(temporary)
    socket = try DatagramSocket(receivingAs: temporary, in: directory, mode: 0o660)
    socketInode = try directory.status(of: temporary)?.inode ?? 0
    try directory.rename(temporary, to: name, replacing: true)
    onStep?(.socketBound)
    self.number = number
    self.directory = directory
    self.lock = lock
    self.memory = memory
    self.onStep = onStep
    hints.withLock { $0.reserveCapacity(Self.maximumHints) }
    take()
    epoch.raise()
    onStep?(.epochRaised)
  }

  private func take() {
    let offset = RegistrationFile.offset(ofRegistration: number)
    // SYNC seat/own: acquire side. The lock's holder sees the last owner's stores.
    if memory.loadAcquiring32(at: offset + Int(NC_SEAT_AT_IS_TAKEN)) != 0 { unmarkAll() }
    memory.storeReleasing32(1, at: offset + Int(NC_SEAT_AT_IS_TAKEN))
    let words = UInt64(number / 64 + 1)
    while true {
      // SYNC observe/look: raised before any bit of the registration is set.
      let found = memory.loadSequential64(at: Int(NC_AT_SEAT_WORDS))
      if found >= words || memory.replace64(found, with: words, at: Int(NC_AT_SEAT_WORDS)) { break }
    }
    // SYNC seat/ring: the socket exists, then the tenure is raised, then posters may ring.
    memory.storeReleasing32(
      UInt32(bitPattern: currentProcessID()), at: offset + Int(NC_SEAT_AT_PID))
    _ = memory.incremented64(at: offset + Int(NC_SEAT_AT_TENURE))
    _ = memory.incremented64(at: offset + Int(NC_SEAT_AT_ARMED))
    onStep?(.seatTaken)
  }

  /// Clears the bits that a dead owner left.
  private func unmarkAll() {
    for row in 0..<Int(NC_ROWS) {
      // Relaxed: only the owner writes these bits.
      let bits = memory.loadRelaxed64(at: RegistrationFile.offset(ofRow: row, word: number / 64))
      if bits & bit != 0 { unmark(row) }
    }
  }

  private var bit: UInt64 { 1 << UInt64(number % 64) }

  // MARK: Observing

  /// For an event loop: readable when the bell has rung.
  var descriptor: Int32 { socket.descriptor.number }

  /// Marks row 0, or the row of a name that had another one. The mark stays until the registration
  /// has another owner; rings because of it are harmless.
  func markPermanently(_ row: Int) {
    mayLeaveMarks.store(true, ordering: .releasing)
    mark(row)
  }

  /// Marks a row as observed. The caller checks the generation afterwards: an earlier post may miss
  /// the mark, every later one sees it.
  func mark(_ row: Int) {
    // SYNC observe/look: set before the generation is read.
    memory.setBits64(bit, at: RegistrationFile.offset(ofRow: row, word: number / 64))
    onStep?(.marked)
  }

  func unmark(_ row: Int) {
    // SYNC observe/look: a ring that is under way is harmless.
    memory.clearBits64(bit, at: RegistrationFile.offset(ofRow: row, word: number / 64))
    onStep?(.unmarked)
  }

  /// A datagram's claim: its sender posted a row, and the row's generation was this.
  struct Hint: Sendable {
    let row: Int
    let generation: UInt64
    /// Nil if two senders claim the same post.
    var sender: PeerCredentials?
  }

  /// Limit of datagrams taken per wake-up. A queue has 11 (`net.unix.max_dgram_qlen`), and a flood
  /// must not keep this process from checking generations.
  private static let maximumReceives = 16
  /// One more than a queue's length. Claims beyond that are dropped.
  private static let maximumHints = 12

  /// Drains the datagrams, then arms: later posts ring again. The caller checks all generations
  /// afterwards, because earlier posts may not have rung.
  func drainAndArm() {
    hints.withLock { hints in
      hints.removeAll(keepingCapacity: true)
      for _ in 0..<Self.maximumReceives {
        let mayHaveMore = socket.receive { datagram in
          guard let words = datagram.words, let sender = datagram.sender,
            words[0] < UInt64(NC_ROWS), hints.count < Self.maximumHints
          else { return }
          hints.append(Hint(row: Int(words[0]), generation: words[1], sender: sender))
        }
        if !mayHaveMore { break }
      }
    }
    onStep?(.drained)
    // SYNC post/observe: armed before the generations are read. Sequentially consistent with the
    // poster's accesses.
    _ = memory.incremented64(
      at: RegistrationFile.offset(ofRegistration: number) + Int(NC_SEAT_AT_ARMED))
    onStep?(.armed)
  }

  /// The claim of the newest post of a row, of the datagrams that were drained last.
  func hint(ofRow row: Int) -> Hint? {
    hints.withLock { hints in
      var newest: Hint?
      for hint in hints where hint.row == row {
        if let known = newest, hint.generation <= known.generation {
          if hint.generation == known.generation, hint.sender != known.sender {
            newest?.sender = nil
          }
        } else {
          newest = hint
        }
      }
      return newest
    }
  }

  /// Whether posters can still reach it: its file is mapped, and its socket has its name.
  var isWhole: Bool {
    let status = (try? directory.status(of: "\(number)")) ?? nil
    return !memory.isLost && status?.inode == socketInode
  }

  /// Releases the registration.
  deinit {
    if isWhole { try? directory.removeFile("\(number)") }
    onStep?(.socketRemoved)
    let isTaken: UInt32 = mayLeaveMarks.load(ordering: .acquiring) ? 1 : 0
    // SYNC seat/own: release side. An owner that finds it taken clears the marks.
    memory.storeReleasing32(
      isTaken, at: RegistrationFile.offset(ofRegistration: number) + Int(NC_SEAT_AT_IS_TAKEN))
    lock.unlockByte(number)
  }
}

extension Registration {
  /// Takes a registration in this user's directory of a table, which is created if necessary.
  /// - Returns: nil if this user has the maximum number of observers.
  static func take(
    in observers: borrowing Directory, _ epoch: EpochWord, _ onStep: OnStep
  ) throws(SystemError) -> Registration? {
    for name in try OwnedDirectory.names(of: currentUserID(), in: observers) {
      // Skip directories that this user damaged.
      guard let directory = try? observers.openDirectory(name),
        let status = try? directory.status(of: RegistrationFile.name),
        status.byteCount == Int(NC_SEATS_BYTES)
      else { continue }
      return try Registration(in: directory, epoch, onStep)
    }
    let made = try OwnedDirectory.make(in: observers, mode: 0o750, onStep, RegistrationFile.make)
    onStep?(.directoryNamed)
    return try Registration(in: made, epoch, onStep)
  }
}
