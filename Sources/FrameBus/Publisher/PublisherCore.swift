import CFrameLayout
import Platform
import Synchronization

/// The publisher's hot path: loan, publish, wake. Run by one thread at a time, the one that
/// owns the `Publisher` or the loan made from it.
///
/// It refuses to communicate with peers: connections belong to `StreamServer`. State that both need
/// is in `Seats` and on the board.
@safe final class PublisherCore: @unchecked Sendable {  // because one thread at a time uses `ring`
  let stream: StreamName
  let options: PublisherOptions
  let boardFile: MemoryFile
  let board: Board
  let seats: Seats
  let waker: Waker
  let pools: PoolBook
  /// Incremented when a subscriber arrives, leaves or loses lossless delivery.
  let changes = PrivateFutexWord()
  /// Raised then too, for a publisher that waits on a descriptor.
  let subscriberObserver = Mutex<EventCounter?>(nil)

  /// Used by the threads that wait for lossless subscribers.
  let stalls = Mutex(StallAccounts())
  let waiterCount = Mutex(0)
  /// The loan that `LoanWait` waits for.
  let requestedLoan = Mutex(RequestedLoan())

  private let boardMapping: Mapping

  /// State of the publishing thread. Behind a pointer to avoid run-time exclusivity checks, because
  /// confinement to one thread already guarantees exclusive access.
  struct Ring: ~Copyable {
    var next: UInt64 = 1
    var pool: Pool
    /// The newest pool of a published frame: subscribers have it, or are on their way to it.
    var shownPool: UInt32
    /// Has a pool sent to subscribers, who keep those from a generation on.
    var announce: (@Sendable (Pool, _ keptFrom: UInt32) -> Void)?
    var slots: SlotTable
    var loans: LoanLedger
    /// Nil unless the stream is paused.
    var pause: PauseReason?
    /// The newest key frame's sequence number.
    var keyFrame: UInt64 = 0
    var format: FrameFormat
    /// Counts the changes of `format`.
    var formatVersion: UInt64 = 1
    var formatEpoch: UInt64 = 0
    /// The format of the newest epoch. A new format's record is written with its first frame.
    var writtenFormat: FrameFormat
    /// Whether each frame of that format is independent, as raw pictures are: then all are key
    /// frames, whatever their flags.
    var standsAlone = false
    /// The written version of `format`, or 0.
    var writtenVersion: UInt64 = 0
  }

  /// SAFETY: allocated in init, freed in deinit, used by the publishing thread alone.
  private let storage: UnsafeMutablePointer<Ring>

  var ring: Ring {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(storage) }
    @inline(__always) unsafeMutableAddress { unsafe storage }
  }

  init(
    stream: StreamName, format: FrameFormat, options: PublisherOptions
  ) throws(PublisherError) {
    self.stream = stream
    self.options = options
    let slotBytes = try Self.slotBytes(for: format, options)
    pools = try PoolBook(slotBytes: slotBytes, options) { plan throws(PublisherError) in
      try Self.makePool(plan, stream: stream, options)
    }
    let pool = pools.newest
    do throws(SystemError) {
      seats = try Seats()
      boardFile = try MemoryFile(
        named: "framebus-board-\(stream)", byteCount: Board.byteCount(ringDepth: options.ringDepth))
      boardMapping = try Mapping(boardFile, .readAndWrite)
      // SAFETY: the mapping lives as long as self.
      board = unsafe Board(boardMapping, ringDepth: options.ringDepth)
      waker = Waker(board)
      board.setHeader(Self.header(stream: stream, options))
      crashPoint(.headerWritten)
      try boardFile.add([.size, .futureWrites, .seals])
    } catch { throw .system(error) }
    let slots = SlotTable(
      slotCount: pool.slotCount, slotBytes: pool.slotBytes, ringDepth: options.ringDepth)
    unsafe storage = .allocate(capacity: 1)
    unsafe storage.initialize(
      to: Ring(
        pool: pool, shownPool: pool.generation, slots: slots,
        loans: LoanLedger(capacity: options.maxLoans, pool: pool, format: format), format: format,
        writtenFormat: format))
    write(format)
    // Relaxed: the rendezvous orders both before any subscriber maps the board.
    board.poolGeneration.storeRelaxed(pool.generation)
    crashPoint(.poolShown)
    board.state.storeRelaxed(UInt32(FB_STATE_LIVE))
    crashPoint(.stateLive)
  }

  deinit {
    unsafe storage.deinitialize(count: 1)
    unsafe storage.deallocate()
  }

  private static func header(stream: StreamName, _ options: PublisherOptions) -> fb_board {
    var header = fb_board()
    header.magic = FB_MAGIC_WORD
    header.abi_version = UInt32(FB_ABI_VERSION)
    header.ring_depth = UInt32(options.ringDepth)
    header.content = options.content.rawValue
    header.generation = wallNowNs()
    header.publisher_pid = UInt32(currentProcessID())
    header.publisher_uid = currentUserID()
    header.monotonic_anchor_ns = monotonicNowNs()
    header.wall_anchor_ns = wallNowNs()
    header.plain_since = 1
    // SAFETY: a stream name is shorter than the field.
    unsafe withUnsafeMutableBytes(of: &header.stream) {
      unsafe $0.copyBytes(from: stream.text.utf8)
    }
    return header
  }

  private static func slotBytes(
    for format: FrameFormat, _ options: PublisherOptions
  ) throws(PublisherError) -> Int {
    let wanted = max(format.byteCount, options.slotBytes ?? 0)
    return (wanted + PageRow.pageBytes - 1) / PageRow.pageBytes * PageRow.pageBytes
  }

  private static func makePool(
    _ plan: PoolBook.Plan, stream: StreamName, _ options: PublisherOptions
  ) throws(PublisherError) -> Pool {
    let slotCount = options.slotCount(holding: plan.holds)
    let byteCount = plan.slotBytes.multipliedReportingOverflow(by: slotCount)
    guard !byteCount.overflow, byteCount.partialValue < 1 << 46 else {
      throw .poolTooLarge(byteCount: byteCount.partialValue)
    }
    return try Pool(
      stream: stream, generation: plan.generation, slotCount: slotCount,
      slotBytes: plan.slotBytes, willSeal: options.poolWillSeal)
  }

  /// Makes room for all holds that may be granted. Not called on the publishing thread, which takes
  /// the pool with its next loan.
  func grow() throws(PublisherError) {
    try pools.grow { plan throws(PublisherError) in
      let pool = try Self.makePool(plan, stream: stream, options)
      pool.populate(slots: options.slotCount(holding: 0))
      return pool
    }
  }

  /// Switches to a new pool.
  private func begin(_ pool: Pool) {
    ring.pool = pool
    ring.slots = SlotTable(
      slotCount: pool.slotCount, slotBytes: pool.slotBytes, ringDepth: options.ringDepth)
    // Relaxed: shown in `framebus streams`; each descriptor has its own pool generation.
    board.poolGeneration.storeRelaxed(pool.generation)
    crashPoint(.poolShown)
  }

  // MARK: Formats

  /// Changes the format of later frames.
  func setFormat(_ format: FrameFormat) throws(PublisherError) {
    guard format != ring.format else { return }
    if format.byteCount > ring.pool.slotBytes {
      try replacePool(slotBytes: Self.slotBytes(for: format, options))
    }
    ring.format = format
    ring.formatVersion += 1
  }

  /// Replaces the pool by one of slots of the same size.
  func renewPool() throws(PublisherError) { try replacePool(slotBytes: ring.pool.slotBytes) }

  private func replacePool(slotBytes: Int) throws(PublisherError) {
    let pool = try pools.replace(slotBytes: slotBytes) { plan throws(PublisherError) in
      try Self.makePool(plan, stream: stream, options)
    }
    pool.populate(slots: options.slotCount(holding: 0))
    begin(pool)
  }

  /// Writes the record of a format epoch over that of the epoch `ringDepth` earlier. No valid
  /// descriptor refers to the old one: each epoch since has published a frame, and the descriptor
  /// of the frame `ringDepth` before the next one is already marked invalid.
  private func write(_ format: FrameFormat) {
    ring.writtenFormat = format
    ring.standsAlone = !format.planes.isEmpty
    ring.formatEpoch += 1
    let epoch = ring.formatEpoch
    board.format(epoch: epoch).store(format.record(epoch: epoch))
    crashPoint(.formatWritten)
    // SYNC status/format: pairs with the acquiring load in `StreamServer.status`. Subscribers reach
    // the record through a descriptor, whose own release orders it.
    board.formatEpoch.storeReleasing(epoch)
    crashPoint(.formatShown)
  }

  /// Ensures that the newest epoch has a loan's format.
  @inline(never)
  private func writeFormat(ofLoan index: Int) {
    if ring.loans[index].format != ring.writtenFormat { write(ring.loans[index].format) }
    ring.writtenVersion = ring.loans[index].formatVersion
  }

  // MARK: Loan and publish

  /// Loans a slot if one is available without waiting.
  func loan() throws(LoanError) -> FrameLoan {
    guard ring.loans.outCount < options.maxLoans else {
      throw .tooManyLoans(maxLoans: options.maxLoans)
    }
    guard ring.pause == nil else { throw .paused }
    if let blocker = firstBlocker(of: nextLoan) {
      throw .backpressure(subscriber: blocker.seat, lagFrames: blocker.lag)
    }
    // Subscribers that come and go during a scan of the hold words can make it count the holds of a
    // seat's old subscriber and of its new one elsewhere, together more than the quota. A second
    // scan sees another state; if very many scans fail, that is a bug.
    for _ in 0..<1000 {
      // Before each scan: a grant beyond the older pool's capacity follows the store of `hasGrown`.
      if let pool = pools.takeGrown() { begin(pool) }
      if let slot = takeSlot() {
        let index = ring.loans.enter(slot, of: ring.pool)
        crashPoint(.loaned)
        // Prefetched while the frame is filled, so that publishing does not wait for it.
        board.prefetchDescriptorForWriting(of: ring.next)
        if ring.loans[index].formatVersion != ring.formatVersion {
          ring.loans[index].format = ring.format
          ring.loans[index].formatVersion = ring.formatVersion
        }
        return FrameLoan(core: self, index: index)
      }
    }
    preconditionFailure(
      "no slot free: the pool has \(ring.pool.slotCount), and loans, ring and holds together can "
        + "take \(ring.pool.slotCount - 1)")
  }

  private func takeSlot() -> Int? {
    ring.slots.take { held in
      // SYNC hold/reuse, the publishing side: the descriptors of the slots to be reused were
      // overwritten; then this fence; then the seats and their hold words are read. Pairs with
      // the fence in `Attachment.pin` between its store of the hold word and its second load of
      // the descriptor. Either we see the hold, or the subscriber sees the descriptor overwritten.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      seats.addHeldSequences(to: &held)
    }
  }

  /// The next loan. All current loans may be published before it.
  @inline(__always)
  var nextLoan: RequestedLoan {
    RequestedLoan(next: ring.next, sequence: ring.next &+ UInt64(ring.loans.outCount))
  }

  /// The first lossless subscriber that has not received the frame whose descriptor a loan would
  /// overwrite. Any thread.
  func firstBlocker(of loan: RequestedLoan) -> (seat: Int, lag: UInt64)? {
    let mask = seats.losslessMask
    guard mask != 0 else { return nil }
    for seat in SetBits(mask) {
      // SYNC position/overwrite: pairs with the releasing store in `Attachment.advance`: a
      // subscriber that advanced past a frame has copied its descriptor.
      let position = seats.page(seat).position.loadAcquiring()
      if position &+ UInt64(options.ringDepth) < loan.sequence, position < loan.next {
        return (seat, loan.next - 1 - position)
      }
    }
    return nil
  }

  /// Makes a filled slot visible as the next frame, and wakes sleeping subscribers.
  func publish(loan index: Int, byteCount: Int) -> SequenceNumber {
    let sequence = ring.next
    let checksum = options.checksums ? checksum(ofLoan: index, byteCount: byteCount) : nil
    // Polling subscribers have the cursor's line; it is fetched while the descriptor is built.
    board.prefetchCursorForWriting()
    let nowNs = monotonicNowNs()
    var descriptor = fb_descriptor()
    if ring.loans[index].hasMetadata {
      ring.loans[index].metadata.store(into: &descriptor)
    } else {
      descriptor.setCaptured(at: nowNs)
    }
    descriptor.pool_generation = ring.loans[index].pool.generation
    descriptor.slot = UInt32(ring.loans[index].slot)
    descriptor.payload_bytes = UInt64(byteCount)
    descriptor.published_at_ns = nowNs
    descriptor.set(checksum)
    if descriptor.pool_generation > ring.shownPool { show(ring.loans[index].pool) }

    // SYNC descriptor/seqlock: 0 marks the descriptor invalid before any of its fields change; the
    // fence keeps this order on machines that reorder stores. Pairs with the acquiring fence in
    // `Attachment.pin` before the sequence is read again. Relaxed: the fence orders it.
    board.descriptorSequence(of: sequence).storeRelaxed(0)
    crashPoint(.descriptorInvalid)
    atomicMemoryFence(ordering: .releasing)
    let version = ring.loans[index].formatVersion
    // 0 means any format set on a loan, so two of them are not known to be equal.
    if version == 0 || version != ring.writtenVersion { writeFormat(ofLoan: index) }
    descriptor.format_epoch = ring.formatEpoch
    if ring.standsAlone || descriptor.flags & FrameFlags.keyFrame.rawValue != 0 {
      ring.keyFrame = sequence
    }
    descriptor.key_frame = ring.keyFrame
    board.descriptor(of: sequence).store(descriptor, from: 1)
    crashPoint(.descriptorWritten)
    // SYNC descriptor/fields: release; pairs with the acquiring load of the sequence in
    // `Attachment.pin`. The frame's bytes and all fields happen before.
    board.descriptorSequence(of: sequence).storeReleasing(sequence)
    crashPoint(.sequenceShown)
    // Relaxed: one writer, a statistic; it shares the cursor's line.
    board.publishedBytes.storeRelaxed(board.publishedBytes.loadRelaxed() &+ UInt64(byteCount))
    crashPoint(.bytesCounted)
    if !descriptor.isPlain {
      // SYNC plain/cursor: relaxed; ordered by the release of the cursor. A reader that knows of
      // this frame does not take it for a plain one.
      board.plainSince.storeRelaxed(sequence + 1)
      crashPoint(.plainShown)
    }
    // Relaxed: a hint for readers of the cursor.
    board.newestSlot.storeRelaxed(descriptor.slot)
    // SYNC cursor/publish: release; pairs with the acquiring loads of the cursor in Attachment.
    board.cursor.storeReleasing(sequence)
    crashPoint(.cursorMoved)

    ring.next = sequence + 1
    if ring.loans[index].pool === ring.pool {
      ring.slots.publish(ring.loans[index].slot, as: sequence)
    } else {
      ring.slots.skip(sequence)
    }
    ring.loans.strike(index)
    wakeSleepers()
    // Prefetched before the next frame exists, so that publishing does not wait.
    board.prefetchDescriptorForWriting(of: ring.next)
    return SequenceNumber(rawValue: sequence)
  }

  /// Has the subscribers sent a pool that the first frame is about to be published of. None is sent
  /// earlier: one that is replaced before displaces none in which frames of the ring lie.
  @inline(never)
  private func show(_ pool: Pool) {
    var keptFrom = pool.generation
    for sequence in ring.next - min(ring.next - 1, UInt64(options.ringDepth))..<ring.next {
      keptFrom = min(keptFrom, board.poolGeneration(of: sequence))
    }
    var unseen: [Pool] = []
    for index in ring.loans.out {
      let other = ring.loans[index].pool
      keptFrom = min(keptFrom, other.generation)
      // In their order, as subscribers wait for none that is older than one they have.
      if (ring.shownPool + 1..<pool.generation).contains(other.generation) { unseen.append(other) }
    }
    for other in unseen.sorted(by: { $0.generation < $1.generation }) {
      ring.announce?(other, keptFrom)
    }
    ring.announce?(pool, keptFrom)
    ring.shownPool = pool.generation
  }

  private func checksum(ofLoan index: Int, byteCount: Int) -> UInt32 {
    let offset = ring.loans[index].slot * ring.loans[index].slotBytes
    // SAFETY: a loan's slot lies in its pool, and `byteCount` fits in the slot.
    let bytes = unsafe RawSpan(
      _unsafeStart: ring.loans[index].pool.mapping.base + offset, byteCount: byteCount)
    return Checksum.crc32c(bytes)
  }

  /// Abandons a loan that will not be published.
  func abandon(loan index: Int) {
    if ring.loans[index].pool === ring.pool { ring.slots.giveBack(ring.loans[index].slot) }
    ring.loans.strike(index)
    // Relaxed: one writer, a statistic.
    board.abandoned.storeRelaxed(board.abandoned.loadRelaxed() &+ 1)
    crashPoint(.abandonCounted)
  }

  /// Publishes the stream state. Published frames stay readable for attached subscribers.
  func set(_ state: StreamState) {
    let (word, reason): (_, UInt32?) =
      switch state {
      // The old reason stays: a reader of the old state must not find another one.
      case .live: (FB_STATE_LIVE, nil)
      case .paused(let reason): (FB_STATE_PAUSED, reason.rawValue)
      case .finished(let reason): (FB_STATE_FINISHED, reason.rawValue)
      }
    ring.pause = if case .paused(let reason) = state { reason } else { nil }
    // Relaxed: ordered by the state's release. A reader that gets the reason of one state and the
    // word of another corrects that with its next load.
    if let reason { board.finishReason.storeRelaxed(reason) }
    crashPoint(.reasonWritten)
    // SYNC state: release; pairs with the acquiring load in `Attachment.state`.
    board.state.storeReleasing(UInt32(word))
    crashPoint(.stateShown)
    wakeSleepers()
  }
}
