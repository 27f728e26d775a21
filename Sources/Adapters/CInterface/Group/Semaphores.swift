import AppGroup
import CFrameBus
import GroupSemaphores
import Platform
import Synchronization

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

final class SemaphoreBox: Handled {
  static let kind = HandleKind.semaphore
  let semaphore: GroupSemaphore
  private let waiting = Mutex<WaitThread?>(nil)

  init(_ semaphore: GroupSemaphore) { self.semaphore = semaphore }

  /// Has the descriptor show the next permit, if there is a descriptor.
  func arm() { waiting.withLock { $0 }?.arm() }

  func descriptor() throws(CFailure) -> Int32 {
    try waiting.withLock { waiting throws(CFailure) in
      if let waiting { return waiting.descriptor }
      // Weak, so that the permits are freed when the handle is closed.
      let made = try WaitThread(named: "framebus-permit") { [weak semaphore] stop in
        semaphore?.waitForPermit(stop: stop)
      }
      waiting = made
      return made.descriptor
    }
  }

  deinit { waiting.withLock { $0 }?.end() }
}

/// The name that C passes.
private func name(_ pointer: UnsafePointer<CChar>?) throws(CFailure) -> SemaphoreName {
  let name = try unsafe text(pointer, "name")
  return try SemaphoreNameError.converted(try SemaphoreName(name))
}

@c @implementation
public func framebus_semaphore_create(
  _ group: OpaquePointer!, _ name: UnsafePointer<CChar>!, _ initial_value: UInt32,
  _ is_recoverable: UInt32, _ semaphore: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(semaphore)
    let name = try unsafe CInterface.name(name)
    guard is_recoverable <= 1 else {
      throw .argument("is_recoverable is \(is_recoverable); use 0 or 1")
    }
    let made = try SemaphoreFileError.converted(
      try GroupSemaphore.create(
        name, in: box.group, initialValue: Int(initial_value), recoverable: is_recoverable == 1))
    try unsafe set(semaphore, SemaphoreBox(made))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_semaphore_open(
  _ group: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ semaphore: UnsafeMutablePointer<OpaquePointer?>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(semaphore)
    let name = try unsafe CInterface.name(name)
    let opened = try SemaphoreFileError.converted(try GroupSemaphore.open(name, in: box.group))
    try unsafe set(semaphore, SemaphoreBox(opened))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_semaphore_remove(
  _ group: OpaquePointer!, _ name: UnsafePointer<CChar>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    let name = try unsafe CInterface.name(name)
    try SemaphoreFileError.converted(try GroupSemaphore.remove(name, in: box.group))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_semaphore_close(_ semaphore: OpaquePointer!) -> Int32 {
  unsafe closeHandle(semaphore, SemaphoreBox.self)
}

@c @implementation
public func framebus_semaphore_wait(
  _ semaphore: OpaquePointer!, _ deadline_ns: UInt64, _ stop: OpaquePointer!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(semaphore, SemaphoreBox.self, error) { box throws(CFailure) in
    let stop = try unsafe stopSignal(stop)
    let result = try SemaphoreError.converted(
      try box.semaphore.wait(until: Deadline(monotonicNs: deadline_ns), stop: stop))
    switch result {
    case .taken: return FRAMEBUS_OK
    case .timedOut: box.arm()
    case .stopped: return FRAMEBUS_STOPPED
    }
    return FRAMEBUS_TIMED_OUT
  }
}

@c @implementation
public func framebus_semaphore_descriptor(
  _ semaphore: OpaquePointer!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(semaphore, SemaphoreBox.self, error) { box throws(CFailure) in
    Int(try box.descriptor())
  }
}

@c @implementation
public func framebus_semaphore_post(
  _ semaphore: OpaquePointer!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(semaphore, SemaphoreBox.self, error) { box throws(CFailure) in
    try SemaphoreError.converted(try box.semaphore.post())
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_semaphore_get_value(
  _ semaphore: OpaquePointer!, _ value: UnsafeMutablePointer<UInt32>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(semaphore, SemaphoreBox.self, error) { box throws(CFailure) in
    let count = try SemaphoreError.converted(try box.semaphore.value())
    try unsafe set(value, "value", to: UInt32(clamping: count))
    return FRAMEBUS_OK
  }
}
