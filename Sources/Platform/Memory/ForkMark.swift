import Glibc

/// Detects that this process is a child, made by `fork(2)`, of the one that made the mark, without
/// a system call: the kernel clears the mark's page in children (`MADV_WIPEONFORK`, Linux 4.14).
@safe package final class ForkMark: @unchecked Sendable {  // because the word is written once

  /// SAFETY: never unmapped.
  private let word: UnsafeMutablePointer<UInt32>

  package init() {
    unsafe word = memoryClearedInChildren(byteCount: 4).bindMemory(to: UInt32.self, capacity: 1)
    unsafe word.pointee = 1
  }

  package var isInChild: Bool { unsafe word.pointee == 0 }
}

/// New memory of zeros, which the kernel fills with zeros again in forked children, if it can
/// (Linux 4.14). Without enough memory the process ends, as in any allocation of Swift.
@unsafe package func memoryClearedInChildren(byteCount: Int) -> UnsafeMutableRawPointer {
  let start = unsafe mmap(
    nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  guard unsafe start != MAP_FAILED, let start = unsafe start else {
    fatalError("no memory: mmap of \(byteCount) bytes: \(SystemError.last("mmap").reason)")
  }
  // SAFETY: its own pages.
  unsafe madvise(start, byteCount, Int32(MADV_WIPEONFORK))
  return unsafe start
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
