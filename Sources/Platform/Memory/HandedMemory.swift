import CLinuxShims
import Glibc

/// A memory file with which a process passes secrets to a child that inherits its descriptor. Its
/// size is fixed, and it is locked out of swap while either side has mapped it. Either side can
/// wipe it, so it is not sealed against writing, but against further seals.
///
/// Its first word coordinates whose turn it is. The other side can write everything in
/// it at any time: it is copied once, and the copy is checked.
@safe package struct HandedMemory: ~Copyable, Sendable {
  private let descriptor: Descriptor
  private let mapping: GuardedMapping

  /// The offset of the contents, after the word.
  package static let start = 4

  /// Creates one filled with zeros.
  /// - Throws: `mlock`'s error if the limit of locked memory is too small.
  package init(named name: String, byteCount: Int) throws(SystemError) {
    let file = try MemoryFile(named: name, byteCount: byteCount)
    try file.add([.size, .seals])
    try self.init(file.intoDescriptor(), byteCount: byteCount)
  }

  /// Takes ownership of an inherited descriptor and sets close-on-exec.
  /// - Returns: nil, leaving the descriptor unchanged, unless it was created by
  ///   `init(named:byteCount:)` with a size within these bounds.
  package static func taken(
    inherited number: Int32, byteCounts: ClosedRange<Int>
  ) throws(SystemError) -> HandedMemory? {
    var status = stat()
    // Never takes standard input, output or error.
    guard number > 2, unsafe fstat(number, &status) == 0, linux_is_memory_file(number),
      byteCounts.contains(Int(status.st_size))
    else { return nil }
    let seals = MemoryFile.Seals(rawValue: linux_get_seals(number))
    guard seals.isSuperset(of: [.size, .seals]), seals.isDisjoint(with: [.writes, .futureWrites])
    else { return nil }
    _ = try retryingInterrupts("fcntl F_SETFD") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    return try HandedMemory(Descriptor(owning: number), byteCount: Int(status.st_size))
  }

  private init(_ descriptor: consuming Descriptor, byteCount: Int) throws(SystemError) {
    let mapping = try GuardedMapping(descriptor, byteCount: byteCount)
    // SAFETY: the range is the mapping's own.
    guard unsafe mlock(mapping.base, byteCount) == 0 else { throw .last("mlock") }
    self.mapping = mapping
    self.descriptor = descriptor
  }

  /// The descriptor for the child to inherit; it stays open here.
  package var descriptorNumber: Int32 { descriptor.number }
  package var byteCount: Int { mapping.byteCount }

  package var word: UInt32 { mapping.loadAcquiring32(at: 0) }

  package func setWord(_ value: UInt32) { mapping.storeReleasing32(value, at: 0) }

  /// Replaces the word atomically. Of all processes that try, one succeeds.
  package func replaceWord(_ old: UInt32, with new: UInt32) -> Bool {
    mapping.replace32(old, with: new, at: 0)
  }

  /// Copies bytes to an offset after the word.
  package func write(_ bytes: RawSpan, at offset: Int) {
    let target = unsafe mapping.checked(offset, byteCount: bytes.byteCount, alignment: 1)
    // SAFETY: the target has room, as checked; lent memory does not overlap the mapping.
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        unsafe target.copyMemory(from: start, byteCount: source.count)
      }
    }
  }

  /// Copies everything after the word, once, into a span of sufficient size.
  package func read(into span: inout MutableRawSpan) {
    let count = byteCount - Self.start
    precondition(span.byteCount >= count, "room for \(span.byteCount) of \(count) bytes")
    let source = unsafe mapping.checked(Self.start, byteCount: count, alignment: 1)
    // SAFETY: both have `count` bytes, as checked; the mapping overlaps nothing else.
    unsafe span.withUnsafeMutableBytes { target in
      if let start = target.baseAddress {
        unsafe start.copyMemory(from: source, byteCount: count)
      }
    }
  }

  /// Overwrites everything after the word with zeros, for both sides (`explicit_bzero(3)`).
  package func wipe() {
    let count = byteCount - Self.start
    // SAFETY: the range lies in the mapping, as checked.
    unsafe explicit_bzero(mapping.checked(Self.start, byteCount: count, alignment: 1), count)
  }
}
