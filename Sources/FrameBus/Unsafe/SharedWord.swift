import Synchronization

// Words of shared memory, accessed with a named memory order. The order is part of the name because
// `Atomic` requires a constant; each call is a single machine instruction. Every call site has a
// SYNC comment with the other side of the pair, or a reason why relaxed suffices.

/// A 64-bit word inside a mapping.
@safe struct SharedWord64 {
  /// SAFETY: aligned, inside a mapping that the owner of this word keeps alive.
  private let address: UnsafeMutablePointer<Atomic<UInt64>>

  @inline(__always)
  @unsafe init(_ base: UnsafeMutableRawPointer, at offset: Int) {
    unsafe address = (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inline(__always)
  func loadAcquiring() -> UInt64 { unsafe address.pointee.load(ordering: .acquiring) }
  @inline(__always)
  func loadRelaxed() -> UInt64 { unsafe address.pointee.load(ordering: .relaxed) }
  @inline(__always)
  func storeReleasing(_ value: UInt64) { unsafe address.pointee.store(value, ordering: .releasing) }
  @inline(__always)
  func storeRelaxed(_ value: UInt64) { unsafe address.pointee.store(value, ordering: .relaxed) }
}

/// A 32-bit word inside a mapping, which may also serve as a futex.
@safe struct SharedWord32 {
  /// SAFETY: aligned, inside a mapping that the owner of this word keeps alive.
  private let address: UnsafeMutablePointer<Atomic<UInt32>>

  @inline(__always)
  @unsafe init(_ base: UnsafeMutableRawPointer, at offset: Int) {
    unsafe address = (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  @inline(__always)
  func loadAcquiring() -> UInt32 { unsafe address.pointee.load(ordering: .acquiring) }
  @inline(__always)
  func loadRelaxed() -> UInt32 { unsafe address.pointee.load(ordering: .relaxed) }
  @inline(__always)
  func storeReleasing(_ value: UInt32) { unsafe address.pointee.store(value, ordering: .releasing) }
  @inline(__always)
  func storeRelaxed(_ value: UInt32) { unsafe address.pointee.store(value, ordering: .relaxed) }

  /// The word's address for `futex(2)`.
  @unsafe var futex: UnsafePointer<UInt32> {
    unsafe UnsafeRawPointer(address).assumingMemoryBound(to: UInt32.self)
  }
}

/// A record of shared memory that is copied word by word. Its writer may be changing it, so the
/// copy is valid only if a sequence number proves it consistent (a seqlock).
@safe struct SharedRecord {
  /// SAFETY: aligned to 8, `wordCount` words inside a mapping that the owner keeps alive.
  private let base: UnsafeMutableRawPointer
  private let wordCount: Int

  @inline(__always)
  @unsafe init(_ base: UnsafeMutableRawPointer, at offset: Int, byteCount: Int) {
    unsafe self.base = base + offset
    wordCount = byteCount / 8
  }

  /// Writes a record, starting at its word `first`.
  @inline(__always)
  func store<Record: BitwiseCopyable>(_ record: Record, from first: Int = 0) {
    precondition(MemoryLayout<Record>.size == wordCount * 8)
    unsafe withUnsafeBytes(of: record) { bytes in
      for index in first..<wordCount {
        // Relaxed: the caller's sequence number orders these stores.
        let word = unsafe bytes.load(fromByteOffset: index * 8, as: UInt64.self)
        unsafe SharedWord64(base, at: index * 8).storeRelaxed(word)
        crashPoint(.recordWord)
      }
    }
  }

  /// Copies the record into `record`: all of it, or its first words.
  @inline(__always)
  func load<Record: BitwiseCopyable>(into record: inout Record, words count: Int? = nil) {
    precondition(MemoryLayout<Record>.size == wordCount * 8)
    unsafe withUnsafeMutableBytes(of: &record) { bytes in
      for index in 0..<min(count ?? wordCount, wordCount) {
        // Relaxed: the caller's sequence number orders these loads.
        let word = unsafe SharedWord64(base, at: index * 8).loadRelaxed()
        unsafe bytes.storeBytes(of: word, toByteOffset: index * 8, as: UInt64.self)
      }
    }
  }
}

/// Bytes of shared memory that are copied word by word, like a `SharedRecord`.
@safe struct SharedBytes {
  /// SAFETY: aligned to 8, `byteCount` bytes, rounded up to whole words, inside a mapping that the
  /// owner keeps alive.
  private let base: UnsafeMutableRawPointer
  private let byteCount: Int

  @unsafe init(_ base: UnsafeMutableRawPointer, at offset: Int, byteCount: Int) {
    unsafe self.base = base + offset
    self.byteCount = byteCount
  }

  /// Copies all bytes to the beginning of a buffer that is at least as long.
  func copy(into buffer: inout MutableRawSpan) {
    precondition(buffer.byteCount >= byteCount, "\(byteCount) bytes into \(buffer.byteCount)")
    unsafe buffer.withUnsafeMutableBytes { target in
      for offset in stride(from: 0, to: byteCount & ~7, by: 8) {
        // Relaxed, here and below: the caller's check of a sequence number orders these loads.
        let word = unsafe SharedWord64(base, at: offset).loadRelaxed()
        unsafe target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      }
      guard byteCount % 8 > 0 else { return }
      let rest = byteCount & ~7
      let word = unsafe SharedWord64(base, at: rest).loadRelaxed()
      for index in 0..<(byteCount % 8) {
        unsafe target[rest + index] = UInt8(truncatingIfNeeded: word >> (8 * UInt64(index)))
      }
    }
  }
}
