import CSodium
import Platform
import Synchronization

/// Secret bytes in protected memory (`sodium_malloc`). The memory is locked against swapping,
/// excluded from core dumps, between guard pages, unreadable while nobody borrows it, wiped when it
/// is released, and zeros in forked children.
///
/// The value cannot be copied implicitly, has no text form, and is lent only to closures.
public struct SecretBytes: ~Copyable, Sendable {
  private let memory: SecretMemory
  /// The number of bytes.
  public let byteCount: Int

  /// Allocates `capacity` bytes, which the closure fills. The closure returns how many bytes it
  /// filled; only those are kept.
  /// - Throws: ``CredentialError/memoryNotLockable(byteCount:)`` where the limit of locked memory
  ///   is too small.
  package init(
    capacity: Int, filling fill: (inout MutableRawSpan) throws(CredentialError) -> Int
  ) throws(CredentialError) {
    let whole = try SecretMemory(byteCount: capacity)
    // SAFETY: the memory is whole's own, writable until it is closed, and of that length.
    let count = try unsafe whole.whileWritable { buffer throws(CredentialError) in
      var span = unsafe MutableRawSpan(_unsafeBytes: buffer)
      return try fill(&span)
    }
    precondition((0...capacity).contains(count), "\(count) bytes filled of \(capacity)")
    self.init(try count == capacity ? whole : whole.prefix(count), byteCount: count)
  }

  private init(_ memory: SecretMemory, byteCount: Int) {
    self.memory = memory
    self.byteCount = byteCount
  }

  /// Allocates exactly `byteCount` bytes, filled by a call of libsodium.
  /// - Parameter fill: returns 0 if it filled all of it.
  /// - Returns: nil if it did not.
  @unsafe init?(
    byteCount: Int, calling fill: (UnsafeMutablePointer<UInt8>) throws(CredentialError) -> Int32
  ) throws(CredentialError) {
    // SAFETY: as of the one below; all of it is filled.
    let filled = try unsafe SecretBytes(room: byteCount) { start throws(CredentialError) in
      try unsafe fill(start) == 0 ? byteCount : nil
    }
    guard let filled else { return nil }
    self = filled
  }

  /// Allocates `room` bytes: more than the secret needs, for example to hold its key.
  /// - Parameter fill: wipes the bytes that are not the secret, and returns the secret's length
  ///   from the start. The other bytes stay allocated and are never lent.
  /// - Returns: nil if `fill` does.
  @unsafe init?(
    room: Int, calling fill: (UnsafeMutablePointer<UInt8>) throws(CredentialError) -> Int?
  ) throws(CredentialError) {
    let memory = try SecretMemory(byteCount: room)
    // SAFETY: the memory is its own, writable until the closure ends, and bytes throughout.
    let count = try unsafe memory.whileWritable { buffer throws(CredentialError) -> Int? in
      guard let start = buffer.baseAddress else { return nil }
      return try unsafe fill(start.assumingMemoryBound(to: UInt8.self))
    }
    guard let count else { return nil }
    precondition((0...room).contains(count), "\(count) bytes filled of \(room)")
    self.init(memory, byteCount: count)
  }

  /// Copies bytes from unprotected memory, such as a test's.
  public init(copying bytes: RawSpan) throws(CredentialError) {
    // SAFETY: both have the same length, and a new memory overlaps nothing.
    let copied = try unsafe SecretBytes(byteCount: bytes.byteCount) { target in
      unsafe bytes.withUnsafeBytes { source in
        for index in source.indices { unsafe target[index] = source[index] }
      }
      return 0
    }
    guard let copied else { throw .memoryNotLockable(byteCount: bytes.byteCount) }
    self = copied
  }

  /// Copies the bytes of an array, which stays unprotected.
  public init(copying bytes: [UInt8]) throws(CredentialError) {
    // SAFETY: bytes have no padding.
    try self.init(copying: unsafe bytes.span.bytes)
  }

  /// Random bytes of cryptographic quality.
  package static func random(byteCount: Int) throws(CredentialError) -> SecretBytes {
    // SAFETY: the buffer is valid for its length.
    let made = try unsafe SecretBytes(byteCount: byteCount) {
      unsafe randombytes_buf($0, byteCount)
      return 0
    }
    guard let made else { throw .memoryNotLockable(byteCount: byteCount) }
    return made
  }

  /// Joins bytes that are not secret and a secret.
  static func joining(
    _ open: [UInt8], _ secret: borrowing SecretBytes
  ) throws(CredentialError) -> SecretBytes {
    // SAFETY: the target has the length of both parts.
    let joined = try unsafe SecretBytes(byteCount: open.count + secret.byteCount) { target in
      unsafe target.update(from: open, count: open.count)
      unsafe secret.withPointer {
        unsafe (target + open.count).update(from: $0, count: secret.byteCount)
      }
      return 0
    }
    guard let joined else { throw .memoryNotLockable(byteCount: open.count) }
    return joined
  }

  borrowing func copy() throws(CredentialError) -> SecretBytes { try part(0..<byteCount) }

  /// A copy of the last bytes.
  borrowing func suffix(_ count: Int) throws(CredentialError) -> SecretBytes {
    try part(byteCount - count..<byteCount)
  }

  /// A copy of a range of bytes.
  borrowing func part(_ range: Range<Int>) throws(CredentialError) -> SecretBytes {
    precondition(
      range.lowerBound >= 0 && range.upperBound <= byteCount, "bytes \(range) of \(byteCount)")
    // SAFETY: the range lies inside, as checked.
    let part = try unsafe SecretBytes(byteCount: range.count) { target in
      unsafe withPointer {
        unsafe target.update(from: $0 + range.lowerBound, count: range.count)
      }
      return 0
    }
    guard let part else { throw .memoryNotLockable(byteCount: range.count) }
    return part
  }

  /// All bytes except the last `count`, which are the secret part.
  borrowing func openPrefix(dropping count: Int) -> [UInt8] {
    withBytes { bytes in
      // SAFETY: the buffer is copied before the borrow ends.
      unsafe bytes.withUnsafeBytes { unsafe Array($0.dropLast(count)) }
    }
  }

  /// Compares in constant time.
  public static func == (left: borrowing SecretBytes, right: borrowing SecretBytes) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    let count = left.byteCount
    // SAFETY: both have `count` bytes.
    return unsafe left.withPointer { first in
      unsafe right.withPointer { second in unsafe sodium_memcmp(first, second, count) == 0 }
    }
  }

  /// Lends the bytes. Copies that the closure makes are not protected.
  public borrowing func withBytes<Result, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: the span cannot outlive the closure, for which the memory is readable.
    try unsafe memory.whileReadable { buffer throws(Failure) in
      try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<byteCount])))
    }
  }

  /// Makes the bytes readable until as many calls of `endLending`, for callers in C, which take no
  /// closure.
  @unsafe package borrowing func beginLending() -> UnsafeRawBufferPointer {
    // SAFETY: the caller uses the bytes until `endLending` alone, and keeps this value until then.
    unsafe UnsafeRawBufferPointer(rebasing: memory.beginReading()[..<byteCount])
  }

  package borrowing func endLending() { memory.endReading() }

  /// Lends the bytes to a call of libsodium.
  @unsafe borrowing func withPointer<Result, Failure: Error>(
    _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // SAFETY: libsodium gives no null pointer, even for no bytes; they are bytes throughout.
    try unsafe memory.whileReadable { buffer throws(Failure) in
      guard let start = buffer.baseAddress else { fatalError("secret memory without an address") }
      return try unsafe body(start.assumingMemoryBound(to: UInt8.self))
    }
  }
}

/// The memory of one secret. Borrows may nest, in several threads, so it counts them.
@safe private final class SecretMemory: @unchecked Sendable {
  // because the bytes are written before anybody shares them, and the count is under a lock

  let byteCount: Int
  /// SAFETY: from `sodium_malloc` until `deinit`, with `byteCount` bytes, and touched only until it
  /// is filled, and while it has been made readable.
  private let start: UnsafeMutableRawPointer
  private let borrowCount = Mutex(0)

  init(byteCount: Int) throws(CredentialError) {
    try Sodium.start()
    guard let start = unsafe sodium_malloc(byteCount) else {
      throw .memoryNotLockable(byteCount: byteCount)
    }
    // `sodium_malloc` locks too, but goes on where that fails.
    if byteCount > 0, unsafe sodium_mlock(start, byteCount) != 0 {
      unsafe sodium_free(start)
      throw .memoryNotLockable(byteCount: byteCount)
    }
    // A child that is forked without exec finds zeros, so that a secret has one owner.
    unsafe wipeInForkedChildren(start, byteCount: byteCount)
    self.byteCount = byteCount
    unsafe self.start = start
  }

  /// To be called once, before anybody reads: memory is made writable.
  @unsafe func whileWritable<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(borrowCount.withLock { $0 } == 0, "secret memory written while it is lent")
    defer { _ = unsafe sodium_mprotect_noaccess(start) }
    return try unsafe body(UnsafeMutableRawBufferPointer(start: start, count: byteCount))
  }

  @unsafe func whileReadable<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { endReading() }
    return try unsafe body(beginReading())
  }

  @unsafe func beginReading() -> UnsafeRawBufferPointer {
    borrowCount.withLock {
      if $0 == 0 { _ = unsafe sodium_mprotect_readonly(start) }
      $0 += 1
    }
    return unsafe UnsafeRawBufferPointer(start: start, count: byteCount)
  }

  func endReading() {
    borrowCount.withLock {
      $0 -= 1
      if $0 == 0 { _ = unsafe sodium_mprotect_noaccess(start) }
    }
  }

  /// The first bytes, in memory of their own.
  func prefix(_ count: Int) throws(CredentialError) -> SecretMemory {
    let part = try SecretMemory(byteCount: count)
    // SAFETY: both have at least `count` bytes, as the caller has checked.
    unsafe part.whileWritable { target in
      unsafe whileReadable { source in
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
      }
    }
    return part
  }

  deinit { unsafe sodium_free(start) }
}
