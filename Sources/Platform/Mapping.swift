import CLinuxShims
import Glibc

/// Pages of a memory file in this process's address space, unmapped when the owner goes.
///
/// Never inherited by a forked child (`MADV_DONTFORK`), which would otherwise keep reading memory
/// whose holds its parent gave up.
@safe package struct Mapping: ~Copyable, @unchecked Sendable {  // because the address never changes
  package enum Access: Sendable { case read, readAndWrite }

  /// SAFETY: valid for `byteCount` bytes until deinit; users keep the mapping's owner alive.
  @unsafe package let base: UnsafeMutableRawPointer
  package let byteCount: Int

  package init(_ file: borrowing MemoryFile, _ access: Access) throws(SystemError) {
    let protection = access == .read ? PROT_READ : PROT_READ | PROT_WRITE
    // SAFETY: a fresh shared mapping at an address that the kernel chooses.
    let address = unsafe mmap(
      nil, file.byteCount, protection, MAP_SHARED, file.descriptor.number, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe base = address
    byteCount = file.byteCount
    unsafe linux_keep_from_children(address, byteCount)
  }

  /// Allocates the pages of a range now, off the hot path: the first touch of a page costs more
  /// than filling it. A kernel that cannot (before 5.14) allocates them at first touch.
  package borrowing func populate(_ range: Range<Int>) {
    precondition(range.upperBound <= byteCount, "range \(range) of \(byteCount) mapped bytes")
    // SAFETY: inside the mapping, as checked.
    _ = unsafe linux_populate_writable(base + range.lowerBound, range.count)
  }

  deinit { unsafe munmap(base, byteCount) }
}

/// A row of places for one-page mappings at fixed addresses. An empty place reads as zeros, so a
/// thread may read any place at any time while another fills or empties it.
@safe package struct PageRow: ~Copyable, @unchecked Sendable {  // because the address never changes
  package static let pageBytes = 4096

  /// SAFETY: `count` pages, mapped at every moment until deinit: places are replaced in one
  /// `mmap(2)` with MAP_FIXED, never unmapped in between.
  @unsafe package let base: UnsafeMutableRawPointer
  package let count: Int

  package init(count: Int) throws(SystemError) {
    let address = unsafe mmap(
      nil, count * Self.pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe base = address
    self.count = count
    unsafe linux_keep_from_children(address, count * Self.pageBytes)
  }

  /// Maps the file's one page read-only at a place.
  package borrowing func fill(_ place: Int, with file: borrowing MemoryFile) throws(SystemError) {
    precondition(file.byteCount == Self.pageBytes, "\(file.byteCount) bytes in a page")
    try replace(place, flags: MAP_SHARED, descriptor: file.descriptor.number)
  }

  /// Gives a place back to zeros.
  package borrowing func empty(_ place: Int) throws(SystemError) {
    try replace(place, flags: MAP_PRIVATE | MAP_ANONYMOUS, descriptor: -1)
  }

  private borrowing func replace(
    _ place: Int, flags: Int32, descriptor: Int32
  ) throws(SystemError) {
    precondition(place < count, "place \(place) out of \(count)")
    // SAFETY: the address lies inside our own reservation, so nothing else is replaced.
    let address = unsafe base + place * Self.pageBytes
    let result = unsafe mmap(
      address, Self.pageBytes, PROT_READ, flags | MAP_FIXED, descriptor, 0)
    guard unsafe result != MAP_FAILED else { throw .last("mmap") }
    unsafe linux_keep_from_children(address, Self.pageBytes)
  }

  deinit { unsafe munmap(base, count * Self.pageBytes) }
}
