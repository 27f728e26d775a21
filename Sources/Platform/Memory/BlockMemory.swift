import Glibc

/// Page-aligned blocks of memory, for direct writes.
@safe final class BlockMemory {
  /// SAFETY: `count` blocks, mapped until deinit.
  private let base: UnsafeMutableRawPointer
  private let count: Int

  init(count: Int) throws(SystemError) {
    let address = unsafe mmap(
      nil, count * BlockFile.blockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
      0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe base = address
    self.count = count
  }

  /// SAFETY: valid as long as self.
  @unsafe subscript(index: Int) -> iovec {
    precondition(index < count, "block \(index) out of \(count)")
    return unsafe iovec(
      iov_base: base + index * BlockFile.blockBytes, iov_len: BlockFile.blockBytes)
  }

  /// Copies bytes to the beginning of a block, and zeros the rest.
  func fill(_ index: Int, from bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= BlockFile.blockBytes, "\(bytes.count) bytes in a block")
    let block = unsafe self[index]
    let target = unsafe UnsafeMutableRawBufferPointer(start: block.iov_base, count: block.iov_len)
    unsafe target.copyMemory(from: bytes)
    unsafe target[bytes.count...].initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { unsafe munmap(base, count * BlockFile.blockBytes) }
}
