import Glibc

/// Frees memory that a C library allocated with `malloc(3)` for its caller, such as XCB's replies.
/// SAFETY: the caller owns the memory, and does not use it afterwards.
@unsafe package func freeForeignMemory(_ address: UnsafeMutableRawPointer?) {
  unsafe free(address)
}

extension Descriptor {
  /// A second descriptor, closed on exec, for a file that is owned elsewhere.
  package static func duplicating(_ number: Int32) throws(SystemError) -> Descriptor {
    Descriptor(owning: try retryingInterrupts("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 0) })
  }
}
