import Glibc

/// An open file descriptor with one owner; closed when the value is destroyed.
package struct Descriptor: ~Copyable, Sendable {
  package let number: Int32

  /// Takes ownership of a descriptor.
  package init(owning number: Int32) {
    precondition(number >= 0, "descriptor \(number) is not open")
    self.number = number
  }

  /// A second descriptor for the same open file, closed on exec.
  package borrowing func duplicate() throws(SystemError) -> Descriptor {
    let original = number
    return Descriptor(
      owning: try retryingInterrupts("fcntl") { fcntl(original, F_DUPFD_CLOEXEC, 0) })
  }

  /// Returns the number; the caller must close it, or pass it to a call that does.
  package consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }

  deinit { close(number) }
}

/// A descriptor with several owners; closed with the last reference.
package final class SharedDescriptor: Sendable {
  private let descriptor: Descriptor

  package init(owning number: Int32) { descriptor = Descriptor(owning: number) }

  package var number: Int32 { descriptor.number }

  package func status(path: String) throws(SystemError) -> FileStatus {
    try fileStatus(of: descriptor, path: path)
  }
}
