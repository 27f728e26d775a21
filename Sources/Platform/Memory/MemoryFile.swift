import CLinuxShims
import Glibc

/// Anonymous memory with a descriptor that other processes can map: `memfd_create(2)`.
///
/// It has no name in any file system and is freed when its last user closes it or dies. A receiver
/// checks `seals` and `byteCount` before mapping: if it is sealed against shrinking, no access
/// inside it can raise SIGBUS.
package struct MemoryFile: ~Copyable, Sendable {
  package struct Seals: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// The size is fixed.
    package static let size = Seals(
      rawValue: Int32(LINUX_SEAL_SHRINK | LINUX_SEAL_GROW))
    /// Nobody can write, not even its creator.
    package static let writes = Seals(rawValue: Int32(LINUX_SEAL_WRITE))
    /// No new writable mapping and no write(2); existing mappings can still write.
    package static let futureWrites = Seals(rawValue: Int32(LINUX_SEAL_FUTURE_WRITE))
    /// No further seals.
    package static let seals = Seals(rawValue: Int32(LINUX_SEAL_SEAL))
  }

  package let descriptor: Descriptor
  package let byteCount: Int

  /// - Parameters:
  ///   - name: shown in /proc/PID/maps, for debugging.
  ///   - isExecutable: omits the seal `F_SEAL_EXEC`, for a receiver that does not know it.
  package init(
    named name: String, byteCount: Int, isExecutable: Bool = false
  ) throws(SystemError) {
    // SAFETY: the kernel reads the name during the call only.
    let number = try retryingInterrupts("memfd_create", path: name) {
      unsafe linux_memfd_create(name, isExecutable)
    }
    let descriptor = Descriptor(owning: number)
    try requireAllowedSize(byteCount, "ftruncate", path: name)
    _ = try retryingInterrupts("ftruncate", path: name) { ftruncate(number, byteCount) }
    self.descriptor = descriptor
    self.byteCount = byteCount
  }

  /// Takes ownership of a descriptor from a peer. Returns nil unless it is a memory file of exactly
  /// this size that nobody can shrink.
  package init?(received descriptor: consuming Descriptor, byteCount: Int) {
    var status = stat()
    let seals = linux_get_seals(descriptor.number)
    guard
      unsafe fstat(descriptor.number, &status) == 0,
      status.st_size == byteCount,
      linux_is_memory_file(descriptor.number),
      seals >= 0,
      Seals(rawValue: seals).isSuperset(of: .size)
    else { return nil }
    self.descriptor = descriptor
    self.byteCount = byteCount
  }

  /// Returns the descriptor, to map it in another way.
  package consuming func intoDescriptor() -> Descriptor { descriptor }

  package borrowing func add(_ seals: Seals) throws(SystemError) {
    let number = descriptor.number
    _ = try retryingInterrupts("fcntl F_ADD_SEALS") { linux_add_seals(number, seals.rawValue) }
  }

  /// Its allocated memory, without pages that have never been accessed.
  package borrowing func allocatedByteCount() -> Int {
    var status = stat()
    guard unsafe fstat(descriptor.number, &status) == 0 else { return 0 }
    return Int(status.st_blocks) * 512
  }

  /// Writes bytes at the start, before the file is sealed.
  package borrowing func initialize(from bytes: RawSpan) throws(SystemError) {
    let number = descriptor.number
    // SAFETY: the kernel reads the span's own bytes, during the call.
    let written = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(number, $0.baseAddress, $0.count, 0)
    }
    guard written == bytes.byteCount else { throw .last("pwrite") }
  }
}
