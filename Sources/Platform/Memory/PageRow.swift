import CLinuxShims
import Glibc

#if !ThreadSanitizer
  /// A row of one-page mappings at fixed addresses. An empty page reads as zeros, so a thread may
  /// read any page at any time while another fills or empties it.
  @safe package struct PageRow: ~Copyable, @unchecked Sendable {
    // because the address never changes

    package static let pageBytes = 4096

    /// SAFETY: `count` pages, mapped at every moment until deinit: pages are replaced in one
    /// `mmap(2)` with MAP_FIXED, never unmapped in between.
    private let base: UnsafeMutableRawPointer
    package let count: Int

    package init(count: Int) throws(SystemError) {
      let address = unsafe mmap(
        nil, count * Self.pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
      unsafe base = address
      self.count = count
      unsafe linux_keep_from_children(address, count * Self.pageBytes)
    }

    /// The address of a page, constant while the row exists.
    @inline(__always)
    @unsafe package borrowing func address(of index: Int) -> UnsafeMutableRawPointer {
      unsafe base + index * Self.pageBytes
    }

    /// Maps the file's one page read-only at an index.
    package borrowing func fill(_ index: Int, with file: borrowing MemoryFile) throws(SystemError) {
      precondition(file.byteCount == Self.pageBytes, "\(file.byteCount) bytes in a page")
      // Populated now, so that the first reader does not fault it in.
      try replace(index, flags: MAP_SHARED | MAP_POPULATE, descriptor: file.descriptor.number)
    }

    /// Replaces a page by zeros.
    package borrowing func empty(_ index: Int) throws(SystemError) {
      try replace(index, flags: MAP_PRIVATE | MAP_ANONYMOUS, descriptor: -1)
    }

    private borrowing func replace(
      _ index: Int, flags: Int32, descriptor: Int32
    ) throws(SystemError) {
      precondition(index < count, "page \(index) out of \(count)")
      // SAFETY: the address lies inside our own reservation, so nothing else is replaced.
      let address = unsafe base + index * Self.pageBytes
      let result = unsafe mmap(
        address, Self.pageBytes, PROT_READ, flags | MAP_FIXED, descriptor, 0)
      guard unsafe result != MAP_FAILED else { throw .last("mmap") }
      unsafe linux_keep_from_children(address, Self.pageBytes)
    }

    deinit { unsafe munmap(base, count * Self.pageBytes) }
  }
#endif
