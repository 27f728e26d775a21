import Glibc

/// An open file descriptor with one owner; closed when the owner goes.
package struct Descriptor: ~Copyable, Sendable {
  package let number: Int32

  /// Takes over a descriptor that a call just returned.
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

  /// Gives the number away: the caller closes it, or passes it to a call that does.
  package consuming func release() -> Int32 {
    let number = self.number
    discard self
    return number
  }

  deinit { close(number) }
}

/// A descriptor with several owners; closed when the last one goes.
package final class SharedDescriptor: Sendable {
  private let descriptor: Descriptor

  package init(owning number: Int32) { descriptor = Descriptor(owning: number) }

  package var number: Int32 { descriptor.number }

  package func status(path: String) throws(SystemError) -> FileStatus {
    try fileStatus(of: descriptor, path: path)
  }
}
