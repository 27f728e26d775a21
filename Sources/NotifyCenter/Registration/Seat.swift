import CNotifyLayout
import Platform
import Synchronization

/// This center's place among those who observe the names of a table: a socket that its doorbell
/// rings on, a word that says when it may sleep, and a bit for each name it observes.
final class Seat: Sendable {
  static let maximumCount = Int(NC_SEATS)

  let number: Int
  private let directory: Directory
  private let lock: Descriptor
  private let memory: GuardedMapping
  private let socket: DatagramSocket
  private let socketInode: UInt64
  private let onStep: OnStep
  /// Whether there may be bits of it that nobody takes back.
  private let leavesMarks = Atomic<Bool>(false)

  /// Takes the first seat that no living process has.
  /// - Returns: nil if all of this directory's are taken.
  init?(in directory: consuming Directory, _ epoch: EpochWord, _ onStep: OnStep)
    throws(SystemError)
  {
    let lock = try directory.openForLooking(SeatFile.lockName)
    let file = try directory.openForLooking(SeatFile.name)
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
    take()
    epoch.raise()
    onStep?(.epochRaised)
  }

  private func take() {
    let offset = SeatFile.offset(ofSeat: number)
    // SYNC seat/own: whoever has the lock sees what the last owner left.
    if memory.loadAcquiring32(at: offset + Int(NC_SEAT_AT_IS_TAKEN)) != 0 { unmarkAll() }
    memory.storeReleasing32(1, at: offset + Int(NC_SEAT_AT_IS_TAKEN))
    let words = UInt64(number / 64 + 1)
    while true {
      // SYNC observe/look: raised before any bit of the seat is set.
      let found = memory.loadSequential64(at: Int(NC_AT_SEAT_WORDS))
      if found >= words || memory.replace64(found, with: words, at: Int(NC_AT_SEAT_WORDS)) { break }
    }
    // SYNC seat/ring: the socket is there, then the tenure says so, then it may be rung.
    memory.storeReleasing32(
      UInt32(bitPattern: currentProcessID()), at: offset + Int(NC_SEAT_AT_PID))
    _ = memory.incremented64(at: offset + Int(NC_SEAT_AT_TENURE))
    _ = memory.incremented64(at: offset + Int(NC_SEAT_AT_ARMED))
    onStep?(.seatTaken)
  }

  /// What a dead owner observed, this one does not.
  private func unmarkAll() {
    for row in 0..<Int(NC_ROWS) {
      // Relaxed: nobody else writes this seat's bits.
      let bits = memory.loadRelaxed64(at: SeatFile.offset(ofRow: row, word: number / 64))
      if bits & bit != 0 { unmark(row) }
    }
  }

  private var bit: UInt64 { 1 << UInt64(number % 64) }

  // MARK: Observing

  /// For an event loop: readable when the bell has rung.
  var descriptor: Int32 { socket.descriptor.number }

  /// Says that row 0 is observed, or another row of a name that had one. These marks stay until the
  /// seat has another owner: a ring that they bring comes for nothing.
  func markForGood(_ row: Int) {
    leavesMarks.store(true, ordering: .releasing)
    mark(row)
  }

  /// Says that a row is observed. Look at its generation afterwards: an earlier post may not have
  /// seen this, every later one will.
  func mark(_ row: Int) {
    // SYNC observe/look: set before the generation is looked at.
    memory.setBits64(bit, at: SeatFile.offset(ofRow: row, word: number / 64))
    onStep?(.marked)
  }

  func unmark(_ row: Int) {
    // SYNC observe/look: a ring that was under way comes for nothing.
    memory.clearBits64(bit, at: SeatFile.offset(ofRow: row, word: number / 64))
    onStep?(.unmarked)
  }

  /// What a datagram said: that its sender posted a row for so many times.
  struct Hint: Sendable {
    let row: Int
    let generation: UInt64
    let sender: PeerCredentials
  }

  /// What the datagrams of a ring said. It allocates nothing: what a process touches when it is
  /// woken is cold, and an allocator touches much.
  struct Hints: Sendable {
    /// As many as a queue has, and one more. What is left out names nobody.
    private var hints = InlineArray<12, Hint?>(repeating: nil)
    private var count = 0

    fileprivate mutating func append(_ hint: Hint) {
      guard count < hints.count else { return }
      hints[count] = hint
      count += 1
    }

    func forEach(ofRow row: Int, _ body: (Hint) -> Void) {
      for index in 0..<count {
        if let hint = hints[index], hint.row == row { body(hint) }
      }
    }
  }

  /// So often datagrams are taken out at most: a queue has 11 (`net.unix.max_dgram_qlen`), and a
  /// flooder shall not keep this from looking.
  private static let mostReceives = 16

  /// Takes out the datagrams there are, then arms: from then on a post rings again. Look at all
  /// generations afterwards, because posts from before rang no more.
  func silence() -> Hints {
    var hints = Hints()
    for _ in 0..<Self.mostReceives {
      let mayHaveMore = socket.receive { datagram in
        guard let words = datagram.words, let sender = datagram.sender, words[0] < UInt64(NC_ROWS)
        else { return }
        hints.append(Hint(row: Int(words[0]), generation: words[1], sender: sender))
      }
      if !mayHaveMore { break }
    }
    onStep?(.drained)
    // SYNC post/observe: armed, and only then a look at the generations. In one order with the
    // poster's accesses.
    _ = memory.incremented64(at: SeatFile.offset(ofSeat: number) + Int(NC_SEAT_AT_ARMED))
    onStep?(.armed)
    return hints
  }

  /// Whether posters still find it: its file is mapped, its socket has its name.
  var isWhole: Bool {
    let status = (try? directory.status(of: "\(number)")) ?? nil
    return !memory.isLost && status?.inode == socketInode
  }

  /// Leaves in order.
  deinit {
    if isWhole { try? directory.removeFile("\(number)") }
    onStep?(.socketRemoved)
    let isTaken: UInt32 = leavesMarks.load(ordering: .acquiring) ? 1 : 0
    // SYNC seat/own: release side. Who finds it taken takes the marks back.
    memory.storeReleasing32(
      isTaken, at: SeatFile.offset(ofSeat: number) + Int(NC_SEAT_AT_IS_TAKEN))
    lock.unlockByte(number)
  }
}

extension Seat {
  /// Takes a seat in this user's directory of a table, which is made if need be.
  /// - Returns: nil if there are as many observers of this user as can be.
  static func take(
    in observers: borrowing Directory, _ epoch: EpochWord, _ onStep: OnStep
  ) throws(SystemError) -> Seat? {
    for name in try OwnedDirectory.names(of: currentUserID(), in: observers) {
      // What this user itself spoilt is passed over.
      guard let directory = try? observers.openDirectory(name),
        let status = try? directory.status(of: SeatFile.name),
        status.byteCount == Int(NC_SEATS_BYTES)
      else { continue }
      return try Seat(in: directory, epoch, onStep)
    }
    let made = try OwnedDirectory.make(in: observers, mode: 0o750, onStep, SeatFile.make)
    onStep?(.directoryNamed)
    return try Seat(in: made, epoch, onStep)
  }
}
