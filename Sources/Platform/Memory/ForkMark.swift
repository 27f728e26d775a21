import Glibc

/// Detects that this process is a child, made by `fork(2)`, of the one that made the mark, without
/// a system call: the kernel clears the mark's page in children (`MADV_WIPEONFORK`, Linux 4.14).
@safe package final class ForkMark: @unchecked Sendable {  // because the word is written once

  /// SAFETY: a page that is never unmapped; nil if the kernel cannot clear it in children.
  private let word: UnsafeMutablePointer<UInt32>?

  package init() {
    let page = unsafe mmap(
      nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard unsafe page != MAP_FAILED, let page = unsafe page,
      unsafe madvise(page, 4096, Int32(MADV_WIPEONFORK)) == 0
    else {
      unsafe word = nil
      return
    }
    unsafe word = page.bindMemory(to: UInt32.self, capacity: 1)
    unsafe word?.pointee = 1
  }

  @inline(__always)
  package var isInChild: Bool { unsafe word?.pointee == 0 }
}

/// Has the kernel fill memory with zeros in forked children (`MADV_WIPEONFORK`). A child keeps its
/// parent's memory if the kernel is older than Linux 4.14.
/// - Parameter start: private memory; whole pages are wiped.
@unsafe package func wipeInForkedChildren(_ start: UnsafeMutableRawPointer, byteCount: Int) {
  guard byteCount > 0 else { return }
  let pageBytes = UInt(sysconf(Int32(_SC_PAGESIZE)))
  let inPage = Int(UInt(bitPattern: start) % pageBytes)
  // SAFETY: the pages of the caller's memory.
  unsafe madvise(start - inPage, inPage + byteCount, Int32(MADV_WIPEONFORK))
}
