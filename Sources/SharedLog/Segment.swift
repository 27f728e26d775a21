import CLogLayout
import Platform
import Synchronization

/// The newest lines of a run: a memory-mapped file used as a ring. Each line is formatted in place
/// and stays until it was saved and its space is needed again. Lines survive the process's death,
/// of whatever cause.
///
/// Any number of threads append at once, and none waits for another. Positions are kept in this
/// process's private memory, so that writes to the file by others cannot corrupt them.
final class Segment: Sendable {
  let name: RunName
  let header: RunHeader
  let bell = PrivateFutexWord()
  private let memory: GuardedMapping
  /// Kept open for its lock, which marks the run as alive.
  private let file: Descriptor
  private let clock = LogClock()

  /// The next record's position and the last line's number, changed in one step, so that lines lie
  /// in the order of their numbers.
  private let reserved = Atomic(WordPair(first: 0, second: 0))
  /// A recent value of `reserved`, in halves. Loading `reserved` whole costs as much as a
  /// compare-exchange, which detects a wrong guess anyway.
  private let guess = Atomic<UInt>(0)
  private let guessedNumber = Atomic<UInt>(0)
  /// Position of the oldest record that is not saved.
  private let saved = Atomic<UInt64>(0)
  private let dropped = Atomic<UInt64>(0)
  private let attention = Atomic<UInt8>(Attention.awake.rawValue)

  /// The saver's state, which decides whether an append must ring it.
  enum Attention: UInt8 {
    case awake
    /// Polls again soon without being rung.
    case dozing
    case asleep
  }

  /// - Parameter file: of the right length, and locked.
  init(_ name: RunName, _ header: RunHeader, _ file: consuming Descriptor) throws(SystemError) {
    memory = try GuardedMapping(file, byteCount: Int(LG_SEGMENT_RECORDS) + header.capacity)
    memory.setBytes(header.bytes, at: 0)
    self.name = name
    self.header = header
    self.file = file
  }

  // MARK: Appending

  /// Appends a line.
  /// - Returns: false if the segment is full.
  func append(
    _ level: LogLevel, _ message: String, label: String, _ metadata: [LogField], _ source: String,
    _ sourceLine: UInt32
  ) -> Bool {
    let shape = LineShape(level, message, label, metadata, source, sourceLine)
    if !shape.isTooLong { return append(shape, message, label, metadata, source) }
    let cut = CutLine(message, label, metadata, source)
    return append(
      LineShape(level, cut.message, cut.label, cut.metadata, cut.source, sourceLine, isCut: true),
      cut.message, cut.label, cut.metadata, cut.source)
  }

  @inline(__always)
  private func append(
    _ shape: LineShape, _ message: String, _ label: String, _ metadata: [LogField],
    _ source: String
  ) -> Bool {
    let byteCount = shape.byteCount
    guard let space = reserve(padded(byteCount)) else { return false }
    let at = offset(of: space.position)
    let now = clock.now()
    setHead(shape, space.number, now, at: at)
    var end = at + Int(LG_RECORD_BYTES)
    set(label, at: &end)
    set(source, at: &end)
    set(message, at: &end)
    for field in metadata { set(field, at: &end) }
    let checked = Int(LG_CHECKED)
    let sum = memory.withBytes(at: at + checked, count: byteCount - checked) { recordChecksum($0) }
    // Relaxed: readers check the mark before they read the record.
    memory.storeRelaxed64(UInt64(byteCount) | UInt64(sum) << 32, at: at + 8)
    publish(space.position, byteCount: byteCount)
    return true
  }

  @inline(__always)
  private func setHead(_ shape: LineShape, _ number: UInt64, _ now: LogClock.Reading, at: Int) {
    let flags: UInt64 = shape.isCut ? UInt64(LG_CUT) : 0
    // Relaxed: readers check the mark before they read the record.
    memory.storeRelaxed64(number, at: at + 16)
    memory.storeRelaxed64(now.wallNs, at: at + 24)
    memory.storeRelaxed64(now.monotonicNs, at: at + 32)
    memory.storeRelaxed64(
      UInt64(shape.level.rawValue) | flags << 8 | UInt64(shape.labelBytes) << 16
        | UInt64(shape.messageBytes) << 32, at: at + 40)
    memory.storeRelaxed64(
      UInt64(shape.metadataBytes) | UInt64(shape.sourceBytes) << 32, at: at + 48)
    memory.storeRelaxed64(UInt64(shape.sourceLine), at: at + 56)
  }

  private func set(_ field: LogField, at offset: inout Int) {
    var head: [UInt8] = []
    head.append(littleEndian: field.isPrivate ? UInt16(LG_PRIVATE) : 0)
    head.append(littleEndian: UInt16(field.key.utf8.count))
    head.append(littleEndian: UInt16(field.value.utf8.count))
    memory.setBytes(head, at: offset)
    offset += Int(LG_FIELD_BYTES)
    set(field.key, at: &offset)
    set(field.value, at: &offset)
  }

  @inline(__always)
  private func set(_ text: String, at offset: inout Int) {
    let count = text.utf8.count
    // SAFETY: the bytes are read within the call.
    let isSet: Void? = unsafe text.utf8.withContiguousStorageIfAvailable {
      memory.setBytes(unsafe RawSpan(_unsafeElements: $0), at: offset)
    }
    if isSet == nil { memory.setBytes(Array(text.utf8), at: offset) }
    offset += count
  }

  private struct Reserved {
    let position: UInt64
    let number: UInt64
  }

  /// Reserves contiguous bytes for a record; nil if the segment is full.
  private func reserve(_ byteCount: Int) -> Reserved? {
    // Relaxed: a guess.
    var last = WordPair(
      first: guess.load(ordering: .relaxed), second: guessedNumber.load(ordering: .relaxed))
    while true {
      let left = header.capacity - Int(last.first & UInt(header.capacity - 1))
      let filler = left < byteCount ? left : 0
      let end = last.first + UInt(filler + byteCount)
      // Pairs with `release`: saved bytes are no longer read.
      let saved = saved.load(ordering: .acquiring)
      if saved > last.first {
        // The guess is old: other threads reserved space since, and it was saved.
        last = reserved.load(ordering: .relaxed)
        continue
      }
      guard UInt64(end) - saved <= header.capacity else { return nil }
      // Relaxed: the space is this thread's once the exchange succeeds; the rest is a guess.
      let next = WordPair(first: end, second: last.second + 1)
      let (isTaken, found) = reserved.weakCompareExchange(
        expected: last, desired: next, ordering: .relaxed)
      if isTaken {
        guess.store(next.first, ordering: .relaxed)
        guessedNumber.store(next.second, ordering: .relaxed)
        if filler > 0 { fill(UInt64(last.first), filler) }
        return Reserved(
          position: UInt64(end) - UInt64(byteCount), number: UInt64(last.second) + 1)
      }
      last = found
    }
  }

  /// Fills the end of the segment with a filler record.
  private func fill(_ position: UInt64, _ byteCount: Int) {
    // Relaxed: readers check the mark before they read the record.
    memory.storeRelaxed64(
      UInt64(byteCount) | UInt64(LG_FILLER) | UInt64(~UInt32(byteCount)) << 32,
      at: offset(of: position) + 8)
    publish(position, byteCount: byteCount)
  }

  @inline(__always)
  private func publish(_ position: UInt64, byteCount: Int) {
    // SYNC mark/scan: the record's bytes, then its mark. Sequentially consistent with `attention`:
    // either the saver sees the mark before it sleeps, or this thread rings it.
    memory.storeSequential64(header.nonce ^ position, at: offset(of: position))
    let attention = attention.load(ordering: .sequentiallyConsistent)
    if attention == Attention.awake.rawValue { return }
    // Relaxed: a hint.
    let waiting = position &+ UInt64(byteCount) &- saved.load(ordering: .relaxed)
    if attention == Attention.asleep.rawValue || waiting > UInt64(header.capacity / 2) { ring() }
  }

  private func ring() {
    guard attention.exchange(Attention.awake.rawValue, ordering: .sequentiallyConsistent) != 0
    else { return }
    bell.increment()
    bell.wakeAll()
  }

  private func padded(_ byteCount: Int) -> Int {
    (byteCount + Int(LG_ALIGNMENT) - 1) & ~(Int(LG_ALIGNMENT) - 1)
  }

  private func offset(of position: UInt64) -> Int {
    Int(LG_SEGMENT_RECORDS) + Int(position & UInt64(header.capacity - 1))
  }

  // MARK: Dropping

  /// Counts a line that did not fit. Its number is used, so that readers see a gap.
  func drop() {
    // Relaxed: only a number and a count.
    var last = reserved.load(ordering: .relaxed)
    while true {
      let (isTaken, found) = reserved.weakCompareExchange(
        expected: last, desired: WordPair(first: last.first, second: last.second + 1),
        ordering: .relaxed)
      if isTaken { break }
      last = found
    }
    addDropped(1)
  }

  func addDropped(_ count: UInt64) {
    // Relaxed: a count.
    dropped.wrappingAdd(count, ordering: .relaxed)
  }

  /// The number of lines dropped since the last call.
  func takeDropped() -> UInt64 {
    // Relaxed: a count.
    dropped.exchange(0, ordering: .relaxed)
  }

  // MARK: Saving

  /// Whole records, beginning with the first unsaved one.
  struct Batch {
    let position: UInt64
    let byteCount: Int
    /// Their ranges in the mapping: two if they wrap around its end.
    let ranges: [Range<Int>]
    let hasError: Bool
  }

  /// The records that are ready to save: up to one that a thread is still writing.
  /// - Parameter limit: maximum bytes; a first record that is longer is returned alone.
  func batch(limit: Int) -> Batch? {
    // Relaxed: only the caller's thread changes it.
    let start = saved.load(ordering: .relaxed)
    var position = start
    var hasError = false
    while true {
      let at = offset(of: position)
      // SYNC mark/scan: acquire side.
      guard Int(position - start) < header.capacity,
        memory.loadSequential64(at: at) == header.nonce ^ position
      else { break }
      // Relaxed: ordered by the mark.
      let word = memory.loadRelaxed64(at: at + 8)
      let isFiller = word & UInt64(LG_FILLER) != 0
      let byteCount = padded(Int(word & UInt64(LG_FILLER - 1)))
      // Invalid bytes: another process wrote into this run's file, which loses its lines.
      guard byteCount >= Int(LG_ALIGNMENT), byteCount <= Int(LG_RECORD_LIMIT) else { break }
      let end = Int(position - start) + byteCount
      if end > limit, position > start { break }
      if !isFiller, UInt8(truncatingIfNeeded: memory.loadRelaxed64(at: at + 40)) >= errorLevel {
        hasError = true
      }
      position += UInt64(byteCount)
      if end >= limit { break }
    }
    if position == start { return nil }
    return Batch(
      position: start, byteCount: Int(position - start),
      ranges: ranges(from: start, count: Int(position - start)), hasError: hasError)
  }

  private var errorLevel: UInt8 { LogLevel.error.rawValue }

  private func ranges(from position: UInt64, count: Int) -> [Range<Int>] {
    let first = offset(of: position)
    let end = Int(LG_SEGMENT_RECORDS) + header.capacity
    if first + count <= end { return [first..<first + count] }
    return [first..<end, Int(LG_SEGMENT_RECORDS)..<(Int(LG_SEGMENT_RECORDS) + first + count - end)]
  }

  func save(
    _ batch: Batch, with writer: BatchWriter, to file: Int32, at offset: Int, isDurable: Bool
  ) throws(SystemError) {
    try writer.write(
      batch.ranges, of: memory, to: file, at: offset, isDurable: isDurable)
  }

  /// Skips unsaved records that were truncated away, up to the next whole one. Readers count them
  /// as missing, by their numbers.
  /// - Returns: false if no page was lost, or no whole record follows.
  func skipLostRecords() -> Bool {
    guard memory.isLost else { return false }
    // Relaxed: only the caller's thread changes it.
    var position = saved.load(ordering: .relaxed)
    let end = end
    repeat {
      position += UInt64(LG_ALIGNMENT)
      if position >= end { return false }
      // SYNC mark/scan: acquire side.
    } while memory.loadSequential64(at: offset(of: position)) != header.nonce ^ position
    saved.store(position, ordering: .releasing)
    return true
  }

  /// Frees the space of saved records.
  func release(_ batch: Batch) {
    // Pairs with `reserve`.
    saved.store(batch.position + UInt64(batch.byteCount), ordering: .releasing)
  }

  /// The next record's position: all appended lines lie before it.
  var end: UInt64 { UInt64(reserved.load(ordering: .acquiring).first) }
  var savedEnd: UInt64 { saved.load(ordering: .acquiring) }

  /// Announces what the saver will do next. The saver must check for a batch afterwards.
  func setAttention(_ attention: Attention) {
    self.attention.store(attention.rawValue, ordering: .sequentiallyConsistent)
  }

  /// Rings the saver in any state.
  func ringAnyway() {
    bell.increment()
    bell.wakeAll()
  }
}
