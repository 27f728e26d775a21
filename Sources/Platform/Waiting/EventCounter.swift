import CLinuxShims
import Glibc

/// A descriptor of this process that is readable from when it is raised until it is lowered:
/// `eventfd(2)`.
package final class EventCounter: Sendable {
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  package var number: Int32 { descriptor.number }

  package func raise() {
    var one: UInt64 = 1
    unsafe write(descriptor.number, &one, 8)
  }

  package func lower() {
    var count: UInt64 = 0
    unsafe read(descriptor.number, &count, 8)
  }
}
