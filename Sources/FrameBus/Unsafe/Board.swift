import CFrameLayout
import Platform

/// The board's words, which the publisher writes and subscribers read.
///
/// A subscriber's mapping is read-only: a store through it would fault, and no subscriber code
/// stores. Loaded values come from another process and must be checked before use.
@safe struct Board: @unchecked Sendable {  // because every word of it is accessed atomically
  /// SAFETY: `Board.byteCount(ringDepth:)` bytes of a mapping that the owner keeps alive.
  private let base: UnsafeMutableRawPointer
  let ringDepth: Int

  /// - Parameter mapping: at least `byteCount(ringDepth:)` bytes; must outlive the board.
  @unsafe init(_ mapping: borrowing Mapping, ringDepth: Int) {
    precondition(mapping.byteCount >= Self.byteCount(ringDepth: ringDepth))
    unsafe base = mapping.base
    self.ringDepth = ringDepth
  }

  /// Header, descriptors and formats, in whole pages.
  static func byteCount(ringDepth: Int) -> Int {
    let bytes =
      Int(FB_BOARD_BYTES) + ringDepth * (Int(FB_DESCRIPTOR_BYTES) + Int(FB_FORMAT_BYTES))
    return (bytes + PageRow.pageBytes - 1) / PageRow.pageBytes * PageRow.pageBytes
  }

  /// A copy of the header. A subscriber reads it once, when it attaches.
  func header() -> fb_board {
    var header = fb_board()
    unsafe SharedRecord(base, at: 0, byteCount: Int(FB_BOARD_BYTES)).load(into: &header)
    return header
  }

  func setHeader(_ header: fb_board) {
    unsafe SharedRecord(base, at: 0, byteCount: Int(FB_BOARD_BYTES)).store(header)
  }

  @inline(__always) var cursor: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_CURSOR)) }
  @inline(__always) var wake: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_WAKE)) }
  @inline(__always) var publishedBytes: SharedWord64 {
    unsafe SharedWord64(base, at: Int(FB_AT_PUBLISHED_BYTES))
  }
  @inline(__always)
  var newestSlot: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_NEWEST_SLOT)) }
  @inline(__always)
  var plainSince: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_PLAIN_SINCE)) }
  var state: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_STATE)) }
  var finishReason: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_FINISH_REASON)) }
  var formatEpoch: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_FORMAT_EPOCH)) }
  var poolGeneration: SharedWord32 { unsafe SharedWord32(base, at: Int(FB_AT_POOL_GENERATION)) }
  var publisherWaiting: SharedWord32 {
    unsafe SharedWord32(base, at: Int(FB_AT_PUBLISHER_WAITING))
  }
  var abandoned: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_ABANDONED)) }
  var wakeUps: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_WAKE_UPS)) }
  var losslessEnded: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_LOSSLESS_ENDED)) }

  var evictions: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_EVICTIONS)) }
  var rejected: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_REJECTED)) }
  var retainedBytes: SharedWord64 { unsafe SharedWord64(base, at: Int(FB_AT_RETAINED_BYTES)) }

  func seat(_ index: Int) -> SharedWord32 {
    precondition(index < Int(FB_MAXIMUM_SUBSCRIBERS))
    return unsafe SharedWord32(base, at: Int(FB_AT_SEATS) + index * 4)
  }

  /// The first word of a descriptor: its sequence number, or 0 if it is invalid.
  @inline(__always)
  func descriptorSequence(of sequence: UInt64) -> SharedWord64 {
    unsafe SharedWord64(base, at: descriptorOffset(of: sequence))
  }

  /// The word of a descriptor with the newest key frame's sequence number.
  func keyFrame(of sequence: UInt64) -> SharedWord64 {
    unsafe SharedWord64(base, at: descriptorOffset(of: sequence) + Int(FB_AT_KEY_FRAME))
  }

  /// The board's record for the descriptor of a sequence number.
  @inline(__always)
  func descriptor(of sequence: UInt64) -> SharedRecord {
    unsafe SharedRecord(
      base, at: descriptorOffset(of: sequence), byteCount: Int(FB_DESCRIPTOR_BYTES))
  }

  /// The pool of a frame whose descriptor is in the ring. For the publisher, its only writer.
  func poolGeneration(of sequence: UInt64) -> UInt32 {
    var descriptor = fb_descriptor()
    self.descriptor(of: sequence).load(into: &descriptor)
    return descriptor.pool_generation
  }

  /// Prefetches one or both cache lines of a descriptor for reading.
  @inline(__always)
  func prefetchDescriptor(of sequence: UInt64, isPlain: Bool) {
    let start = unsafe base + descriptorOffset(of: sequence)
    unsafe fb_prefetch(start)
    if !isPlain { unsafe fb_prefetch(start + Int(FB_LINE_BYTES)) }
  }

  /// Prefetches the cursor's cache line for writing.
  @inline(__always)
  func prefetchCursorForWriting() {
    unsafe fb_prefetch_for_writing(base + Int(FB_AT_CURSOR))
  }

  /// Prefetches a descriptor for writing, which invalidates the subscribers' cached lines.
  @inline(__always)
  func prefetchDescriptorForWriting(of sequence: UInt64) {
    let start = unsafe base + descriptorOffset(of: sequence)
    unsafe fb_prefetch_for_writing(start)
    unsafe fb_prefetch_for_writing(start + Int(FB_LINE_BYTES))
  }

  /// The board's record for the format of an epoch.
  func format(epoch: UInt64) -> SharedRecord {
    let offset =
      Int(FB_BOARD_BYTES) + ringDepth * Int(FB_DESCRIPTOR_BYTES)
      + Int(epoch % UInt64(ringDepth)) * Int(FB_FORMAT_BYTES)
    return unsafe SharedRecord(base, at: offset, byteCount: Int(FB_FORMAT_BYTES))
  }

  @inline(__always)
  private func descriptorOffset(of sequence: UInt64) -> Int {
    Int(FB_BOARD_BYTES) + Int(sequence % UInt64(ringDepth)) * Int(FB_DESCRIPTOR_BYTES)
  }
}
