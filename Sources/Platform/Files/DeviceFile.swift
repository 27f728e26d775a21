import CLinuxShims
import Glibc

extension Descriptor {
  /// Opens a device for reading and writing, without waiting (`O_NONBLOCK`), closed on exec.
  package init(device path: String) throws(SystemError) {
    // SAFETY: the kernel reads the path during the call only.
    let number = try retryingInterrupts("open", path: path) {
      unsafe open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    }
    self.init(owning: number)
  }
}

/// Memory that a driver writes and this process reads, unmapped when the value is destroyed. Where
/// the driver has none, it reads as zeros, and `isLost` is set.
@safe package struct DeviceMapping: ~Copyable, @unchecked Sendable {
  // because the address never changes

  /// SAFETY: valid for `byteCount` bytes until deinit; a copy stays within them.
  @unsafe private let base: UnsafeMutableRawPointer
  package let byteCount: Int
  private let guardNumber: Int32

  /// - Parameter offset: what the driver calls its memory by: `mmap(2)`.
  package init(
    _ device: borrowing Descriptor, offset: Int, byteCount: Int
  ) throws(SystemError) {
    let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, device.number, offset)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last("mmap") }
    unsafe linux_keep_from_children(address, byteCount)
    let number = unsafe linux_guard(address, byteCount)
    if number < 0 {
      let error = SystemError.last("guard")
      unsafe munmap(address, byteCount)
      throw error
    }
    unsafe base = address
    self.byteCount = byteCount
    guardNumber = number
  }

  /// Whether something was read that the driver does not have.
  package var isLost: Bool { linux_guard_is_lost(guardNumber) }

  /// Copies the first bytes.
  package borrowing func copy(_ count: Int, to target: inout MutableRawSpan) {
    precondition(
      count <= byteCount && count <= target.byteCount,
      "\(count) bytes of \(byteCount) to \(target.byteCount)")
    unsafe target.withUnsafeMutableBytes {
      unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: base, count: count))
    }
  }

  /// Reads the first bytes in place. The driver may change them meanwhile: copy what is checked.
  package borrowing func withBytes<Result>(_ count: Int, _ body: (RawSpan) -> Result) -> Result {
    precondition(count <= byteCount, "\(count) bytes of \(byteCount)")
    return unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(base), byteCount: count))
  }

  deinit {
    linux_unguard(guardNumber)
    unsafe munmap(base, byteCount)
  }
}

extension SystemError {
  /// Whether the device is gone: `ENODEV`, `ENXIO`, or no file of that name.
  package var isDeviceGone: Bool { [ENODEV, ENXIO, ENOENT, EIO].contains(code) }
  /// Whether the file is a device of another kind, or none: `ENOTTY`.
  package var isOtherDevice: Bool { code == ENOTTY || code == EISDIR }
  /// Whether the kernel refused an argument, or knows nothing of that number: `EINVAL`.
  package var isRefusedArgument: Bool { code == EINVAL }
  /// Whether there is nothing to read yet: `EAGAIN`.
  package var isNothingYet: Bool { code == EAGAIN }
}
