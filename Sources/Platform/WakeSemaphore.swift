import CLinuxShims
import Glibc

/// A semaphore of several processes (`sem_overview(7)`) alone in a memory file, which one process
/// posts and another waits for.
///
/// Both can write all of it, so neither believes it: the poster never waits, and a post that would
/// overflow is left out; the waiter takes a wake-up for no more than a reason to look.
@safe package final class WakeSemaphore: @unchecked Sendable {  // because sem_t is made for that
  private static let byteCount = 4096

  private let file: MemoryFile
  private let mapping: Mapping

  /// Makes a semaphore of its own.
  package init() throws(SystemError) {
    file = try MemoryFile(named: "framebus-semaphore", byteCount: Self.byteCount)
    mapping = try Mapping(file, .readAndWrite)
    try file.add([.size, .seals])
    // SAFETY: here and below, the mapping lives as long as self and is larger than a sem_t.
    guard unsafe linux_semaphore_init(mapping.base, 0) == 0 else { throw .last("sem_init") }
  }

  /// Maps the semaphore that a peer has set up, if the memory is what it must be.
  package init?(received descriptor: consuming Descriptor) {
    guard let file = MemoryFile(received: descriptor, byteCount: Self.byteCount),
      let mapping = try? Mapping(file, .readAndWrite)
    else { return nil }
    self.mapping = mapping
    self.file = file
  }

  /// Its memory, for a peer.
  package var number: Int32 { file.descriptor.number }

  /// Lets one wait end. Never blocks.
  package func post() {
    // SAFETY: the mapping lives as long as self, and is as large as the C side wants it.
    unsafe linux_semaphore_post(mapping.base)
  }

  /// Waits for a post. May return early, as when a signal came.
  package func wait(until deadline: Deadline) {
    // SAFETY: as in `post`.
    unsafe linux_semaphore_wait(mapping.base, deadline.monotonicNs)
  }
}
