import CFrameLayout
import Platform
import Synchronization

/// A subscriber's seat in one generation of a stream: its mappings and its connection.
///
/// It is retained and released with each frame, so nothing may refer to it weakly: weak references
/// make both several times slower.
///
/// It lives as long as the last lease made from it. The publisher's data is untrusted: it is
/// copied, checked, and only then used.
final class Attachment: Sendable {
  let stream: StreamName
  let generation: UInt64
  let ringDepth: Int
  let seat: Int
  let grantedHolds: Int
  /// The newest frame when this subscriber was seated.
  let firstCursor: UInt64
  let content: StreamContent

  let board: Board
  let page: SubscriberPage
  let pins = PinLedger()
  private let boardMapping: Mapping
  private let memory: OwnMemory
  private let freeHolds: FreeHolds

  /// Rung for a frame while this subscriber waits on a descriptor.
  let bell: BellSocket
  /// Posted for a frame while this subscriber waits for that, if it asked for one.
  var semaphore: WakeSemaphore? { memory.semaphore }
  // Last, so that it is closed last: the publisher takes its end for the end of all holds.
  private let line: PublisherLine

  /// Takes over what a welcome brought, after checking it.
  /// - Throws: a sentence that says what was wrong with it.
  init(
    _ welcome: fb_welcome, _ message: inout Message, _ memory: OwnMemory, from socket: SharedSocket,
    stream: StreamName, doorbell: Doorbell, loop: EventLoop
  ) throws(Untrusted) {
    let depth = Int(welcome.ring_depth)
    guard (2...Int(FB_MAXIMUM_RING_DEPTH)).contains(depth),
      welcome.seat < UInt32(FB_MAXIMUM_SUBSCRIBERS),
      (1...UInt32(FB_MAXIMUM_HOLDS)).contains(welcome.holds)
    else { throw Untrusted("its welcome has numbers out of range") }
    guard message.descriptorCount == 3,
      let boardMemory = message.takeDescriptor(),
      let poolMemory = message.takeDescriptor(),
      let bellSocket = message.takeDescriptor()
    else { throw Untrusted("its welcome lacks descriptors") }
    guard
      let boardFile = MemoryFile(
        received: boardMemory, byteCount: Board.byteCount(ringDepth: depth)),
      let boardMapping = try? Mapping(boardFile, .read)
    else { throw Untrusted("its board lacks the required seals") }
    guard let pool = PoolView(welcome.pool, memory: poolMemory) else {
      throw Untrusted("its pool lacks the required seals or is malformed")
    }
    guard let bell = BellSocket(received: bellSocket) else {
      throw Untrusted("its bell is not a socket")
    }
    self.bell = bell
    // SAFETY: both mappings live as long as self.
    board = unsafe Board(boardMapping, ringDepth: depth)
    page = unsafe SubscriberPage(memory.page)
    self.boardMapping = boardMapping
    self.memory = memory
    self.stream = stream
    generation = welcome.generation
    ringDepth = depth
    seat = Int(welcome.seat)
    grantedHolds = Int(welcome.holds)
    firstCursor = welcome.cursor
    freeHolds = FreeHolds(count: grantedHolds)
    line = PublisherLine(socket, pool, doorbell: doorbell, loop: loop)
    let header = board.header()
    guard header.magic == FB_MAGIC_WORD, header.abi_version == UInt32(FB_ABI_VERSION),
      header.ring_depth == UInt32(depth)
    else { throw Untrusted("its board is not a FrameBus board") }
    content = StreamContent(rawValue: header.content) ?? .other
  }

  /// Why a publisher is not trusted.
  struct Untrusted: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// Takes the seat: only now does the publisher count this subscriber, and may begin to publish
  /// for it.
  /// - Returns: false if the publisher has died, or has withdrawn the seat.
  func takeSeat() -> Bool { line.takeSeat() }

  /// Begins to listen for messages and for the publisher's death.
  func watch() throws(SystemError) { try line.watch() }

  /// Called when the bell's other end is closed, which only the publisher holds.
  func endWithBell() { line.endWithBell() }

  deinit { line.end() }

  /// Whether the publisher has exited or died, when its frames can still be read, or has changed
  /// its annotation.
  var news: PublisherLine.News { line.currentNews }

  func takeAnnotation() -> ApplicationID? { line.takeAnnotation() }

  /// The newest published sequence number.
  @inline(__always)
  var cursor: UInt64 {
    // SYNC cursor/publish: pairs with the release in `PublisherCore.publish`.
    board.cursor.loadAcquiring()
  }

  /// The stream state that the publisher announced.
  var state: StreamState {
    // SYNC state: pairs with the releases in `PublisherCore.set`.
    let state = board.state.loadAcquiring()
    if state == UInt32(FB_STATE_LIVE) { return .live }
    // Relaxed: ordered by the state.
    let reason = board.finishReason.loadRelaxed()
    switch Int(state) {
    case Int(FB_STATE_FINISHED): return .finished(FinishReason(rawValue: reason) ?? .ended)
    case Int(FB_STATE_PAUSED): return .paused(PauseReason(rawValue: reason) ?? .requested)
    default: return .live
    }
  }

  /// Why the stream ended, if its publisher finished it.
  var finishReason: FinishReason? {
    if case .finished(let reason) = state { reason } else { nil }
  }

  /// Whether this subscriber has lost its seat. Its leases stay valid; frames that it pins later do
  /// not.
  var isEvicted: Bool {
    // SYNC hold/evict: relaxed; ordered by the fence in `pin` where it matters.
    board.seat(seat).loadRelaxed() == UInt32(FB_SEAT_EVICTED)
  }

  /// Whether this subscriber has lost lossless delivery. Called after a gap was found.
  var losslessHasEnded: Bool {
    // SYNC end/gap: acquiring; from the descriptor found overwritten to the seat's word. Pairs
    // with the releasing fence in `StreamServer.endLossless`. Relaxed: the fence orders it.
    atomicMemoryFence(ordering: .acquiring)
    return board.seat(seat).loadRelaxed() == UInt32(FB_SEAT_LOSSLESS_ENDED)
  }

  func pool(_ generation: UInt32) -> PublisherLine.Whereabouts { line.pool(generation) }

  /// A free hold word, or nil. Only the subscriber takes hold words.
  @inline(__always)
  func takeHold() -> Int? { freeHolds.take() }

  /// Unmaps the pools to which only free records of the ledger refer. Only the subscriber calls
  /// this, because it alone takes hold words.
  func forgetPools(otherThan generation: UInt32) {
    for hold in 0...PinLedger.copied
    where hold == PinLedger.copied || freeHolds.contains(hold) {
      if pins[hold].poolGeneration != generation { pins[hold].pool = nil }
    }
  }

  /// Releases a frame and its hold word.
  func release(_ hold: Int) {
    // An old pool is unmapped with its last lease.
    if pins[hold].poolGeneration != line.newestPool { pins[hold].pool = nil }
    // SYNC hold/release: release; pairs with the acquiring load in `Seats.addHeldSequences`. All
    // reads of the slot happen before it can be reused.
    page.hold(hold).storeReleasing(0)
    crashPoint(.released)
    freeHolds.giveBack(hold)
  }

  /// Tries to pin a frame with a hold word.
  /// - Returns: true if its descriptor now lies in the ledger; false if it has been overwritten or
  ///   this subscriber was evicted, and then the hold word is 0 again.
  @inline(__always)
  func pin(_ sequence: UInt64, with hold: Int) -> Bool {
    let word = page.hold(hold)
    // Prefetches descriptor and payload from the publisher's cache in parallel.
    board.prefetchDescriptor(of: sequence, isPlain: isPlain(sequence))
    // Relaxed: a hint. The descriptor has the frame's actual slot.
    pins[hold].prefetch(slot: board.newestSlot.loadRelaxed())
    // SYNC hold/reuse, the reading side: our store of the hold, this fence, our load of the
    // descriptor. Pairs with the fence in `PublisherCore.loan` between the overwriting of the
    // descriptor and its loads of the holds. The side that comes second sees the other's store.
    // SYNC hold/evict: Dekker. Our store of the hold, this fence, our load of the seat; pairs with
    // the fence in `StreamServer.evict` between its store of the seat and its loads of the holds.
    word.storeReleasing(sequence)
    crashPoint(.holdTaken)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    if copyDescriptor(of: sequence, for: hold), !isEvicted { return true }
    word.storeReleasing(0)
    crashPoint(.holdWithdrawn)
    return false
  }

  /// Whether a frame up to the cursor as this thread has loaded it is known to be plain: its
  /// descriptor's second line, which costs a cache line's transfer, says nothing.
  @inline(__always)
  private func isPlain(_ sequence: UInt64) -> Bool {
    // SYNC plain/cursor: relaxed; ordered by the acquiring load of the cursor. 0 never qualifies.
    board.plainSince.loadRelaxed() &- 1 < sequence
  }

  /// Copies a frame's descriptor into the ledger.
  /// - Returns: false if it has been overwritten; the copy is then undefined.
  @inline(__always)
  func copyDescriptor(of sequence: UInt64, for hold: Int) -> Bool {
    // SYNC descriptor/fields: pairs with the last release in `PublisherCore.publish`.
    guard board.descriptorSequence(of: sequence).loadAcquiring() == sequence else { return false }
    if isPlain(sequence) {
      board.descriptor(of: sequence).load(
        into: &pins[hold].descriptor, words: Int(FB_LINE_BYTES) / 8)
      pins[hold].descriptor.setDetailsToDefaults()
    } else {
      board.descriptor(of: sequence).load(into: &pins[hold].descriptor)
    }
    guard stillStands(sequence) else { return false }
    // The copied word may differ if the publisher violates the protocol.
    pins[hold].descriptor.sequence = sequence
    return true
  }

  /// Whether a frame's descriptor has not been overwritten. If so, earlier copies of its
  /// descriptor, format and payload are consistent.
  @inline(__always)
  func stillStands(_ sequence: UInt64) -> Bool {
    // SYNC descriptor/seqlock: all loads of the copy before this load; pairs with the releasing
    // fence in `PublisherCore.publish`. That lies between the overwriting of the descriptor and the
    // stores to its fields, and before the first store to the slot too, which is free only after
    // that publish. Relaxed: the fence orders it.
    atomicMemoryFence(ordering: .acquiring)
    return board.descriptorSequence(of: sequence).loadRelaxed() == sequence
  }

  /// The newest key frame at or before a frame, 0 if there was none; nil if that frame has been
  /// overwritten.
  func keyFrame(of sequence: UInt64) -> UInt64? {
    // SYNC descriptor/fields, descriptor/seqlock: as in `copyDescriptor`. Relaxed: those order it.
    guard board.descriptorSequence(of: sequence).loadAcquiring() == sequence else { return nil }
    let keyFrame = board.keyFrame(of: sequence).loadRelaxed()
    return stillStands(sequence) ? keyFrame : nil
  }

  /// The newest key frame still in the ring at a frame or, if that frame has been overwritten, at
  /// the cursor.
  func newestKeyFrame(upTo sequence: UInt64) -> UInt64? {
    for newest in [sequence, cursor] where newest > 0 {
      guard let key = keyFrame(of: newest) else { continue }
      return key > 0 && key <= newest && newest - key < UInt64(ringDepth) ? key : nil
    }
    return nil
  }

  /// The format that a pinned frame's descriptor names, or nil if it is malformed.
  /// The frame is pinned, but may have left the ring: the record's epoch and a second load of the
  /// descriptor detect that.
  func format(epoch: UInt64, of sequence: UInt64) -> FormatLookup {
    var record = fb_format()
    board.format(epoch: epoch).load(into: &record)
    // An epoch's record is overwritten only after all descriptors that refer to it.
    guard stillStands(sequence) else { return .lapped }
    guard record.epoch == epoch, let format = FrameFormat(record) else { return .malformed }
    return .found(format)
  }

  enum FormatLookup { case found(FrameFormat), lapped, malformed }

  /// Writes this subscriber's policy, feedback, demand and counts into its new page.
  func introduce(
    _ policy: SubscriberPolicy, _ feedback: Feedback, _ demand: Demand, _ drops: DropCounts
  ) {
    // Relaxed: informational.
    page.policy.storeRelaxed(UInt32(policy.code))
    crashPoint(.policyShown)
    page.store(feedback)
    page.store(demand)
    for reason in DropReason.allCases { noteDrops(drops, reason) }
  }

  @inline(__always)
  func noteDrops(_ drops: DropCounts, _ reason: DropReason) {
    // Relaxed: statistics.
    page.drops(reason).storeRelaxed(drops[reason])
    crashPoint(.dropsShown)
  }

  /// Records that all frames up to a sequence number have been received or dropped.
  func advance(to position: UInt64, received: UInt64, dropped: UInt64, isLossless: Bool) {
    // SYNC position/overwrite: release; pairs with the acquiring load in
    // `PublisherCore.firstBlocker`. The descriptor's copy happens before it may be overwritten.
    page.position.storeReleasing(position)
    crashPoint(.advanced)
    // Relaxed: statistics.
    page.received.storeRelaxed(received)
    crashPoint(.receivedShown)
    page.dropped.storeRelaxed(dropped)
    crashPoint(.droppedShown)
    guard isLossless else { return }
    // SYNC progress: Dekker; pairs with the fence in `PublisherCore.waitForLossless`.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // Relaxed: ordered by the fence; this thread is the word's only writer.
    guard board.publisherWaiting.loadRelaxed() != 0 else { return }
    page.progress.storeReleasing(page.progress.loadRelaxed() &+ 1)
    crashPoint(.progressBumped)
    // SAFETY: the page is mapped as long as self.
    unsafe wakeSleepers(on: page.progress.futex)
    crashPoint(.publisherWoken)
  }

  /// Announces that this subscriber is about to sleep.
  /// - Returns: the value of `wake` to sleep on. Load the cursor once more after this call.
  func prepareToSleep(_ how: Int32) -> UInt32 {
    // SYNC wake/sleep: Dekker. Our store of `waiting`, fence, our load of `wake` and after it of
    // the cursor; pairs with the fence in `PublisherCore.wakeSleepers`. Relaxed: the fence orders.
    page.waiting.storeRelaxed(UInt32(how))
    crashPoint(.waitingShown)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    // Acquire: a reader of the new `wake` sees the new cursor.
    return board.wake.loadAcquiring()
  }

  func endSleep() {
    // Relaxed: a spurious wake-up is harmless.
    page.waiting.storeRelaxed(UInt32(FB_WAITING_NOT))
    crashPoint(.sleepEnded)
  }
}
