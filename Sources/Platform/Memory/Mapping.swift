import CLinuxShims
import Glibc

/// Pages of a memory file in this process's address space, unmapped when the value is destroyed.
///
/// Never inherited by a forked child (`MADV_DONTFORK`), which could otherwise read memory whose
/// holds its parent has released.
@safe package struct Mapping: ~Copyable, @unchecked Sendable {  // because the address never changes
  package enum Access: Sendable { case read, readAndWrite }

  /// SAFETY: valid for `byteCount` bytes until deinit; users keep the mapping's owner alive.
  @unsafe package let base: UnsafeMutableRawPointer
  package let byteCount: Int

  package init(_ file: borrowing MemoryFile, _ access: Access) throws(SystemError) {
    let protection = access == .read ? PROT_READ : PROT_READ | PROT_WRITE
    let address = try unsafe mapShared(file, protection)
    unsafe base = address
    byteCount = file.byteCount
    unsafe linux_keep_from_children(address, byteCount)
  }

  /// Allocates the pages of a range now, off the hot path: the first access to a page costs more
  /// than filling it. Kernels before 5.14 allocate them at the first access.
  package borrowing func populate(_ range: Range<Int>) {
    precondition(range.upperBound <= byteCount, "range \(range) of \(byteCount) mapped bytes")
    // SAFETY: inside the mapping, as checked.
    _ = unsafe linux_populate_writable(base + range.lowerBound, range.count)
  }

  deinit { unsafe unmapShared(base, byteCount) }
}

#if !ThreadSanitizer
  /// Maps a memory file at an address that the kernel chooses.
  private func mapShared(
    _ file: borrowing MemoryFile, _ protection: Int32
  ) throws(SystemError) -> UnsafeMutableRawPointer {
    // SAFETY: a fresh mapping replaces nothing.
    let address = unsafe mmap(
      nil, file.byteCount, protection, MAP_SHARED, file.descriptor.number, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    return unsafe address
  }

  /// SAFETY: the caller passes a result of `mapShared`, once.
  private func unmapShared(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
    unsafe munmap(address, byteCount)
  }
#endif
