import AppGroup
import CFrameBus
import Platform

// The calls of framebus.h and framebus-group.h, as libframebus.so.0 exports them. The headers are
// the interface and its documentation; the compiler compares each function with its declaration.
//
// This module refuses to implement anything of the protocols: it checks what C passes, calls the
// core, and turns errors into codes. It prints nothing and keeps nothing but handles.

@c @implementation
public func framebus_abi_version() -> UInt32 { FRAMEBUS_ABI_VERSION }

@c @implementation
public func framebus_now_ns() -> UInt64 { monotonicNowNs() }

@c @implementation
public func framebus_after_ns(_ duration_ns: UInt64) -> UInt64 {
  Deadline.afterNs(duration_ns).monotonicNs
}

@c @implementation
public func framebus_strerror(_ code: Int32) -> UnsafePointer<CChar>! {
  // SAFETY: literals end with a zero byte and live for ever.
  let text: StaticString =
    switch Int(code) {
    case FRAMEBUS_OK: "success"
    case FRAMEBUS_TIMED_OUT: "the deadline passed"
    case FRAMEBUS_STOPPED: "stopped"
    case FRAMEBUS_FINISHED: "the stream has finished"
    case FRAMEBUS_ERROR_ARGUMENT: "an argument is not valid"
    case FRAMEBUS_ERROR_HANDLE: "a handle is not valid"
    case FRAMEBUS_ERROR_FORKED: "the handle is a parent process's"
    case FRAMEBUS_ERROR_BUSY: "in use by another process"
    case FRAMEBUS_ERROR_NOT_FOUND: "not found"
    case FRAMEBUS_ERROR_EXISTS: "exists already"
    case FRAMEBUS_ERROR_PERMISSION: "permission denied"
    case FRAMEBUS_ERROR_LIMIT: "a limit is reached"
    case FRAMEBUS_ERROR_PAUSED: "the stream is paused"
    case FRAMEBUS_ERROR_BACKPRESSURE: "a lossless subscriber is behind"
    case FRAMEBUS_ERROR_REFUSED: "the publisher refuses this subscriber"
    case FRAMEBUS_ERROR_UNTRUSTED: "a peer or file breaks the protocol"
    case FRAMEBUS_ERROR_NO_ANSWER: "the publisher does not answer"
    case FRAMEBUS_ERROR_SYSTEM: "a system call failed"
    case FRAMEBUS_ERROR_TYPE: "the value has another type"
    default: "unknown result"
    }
  return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

// MARK: - Stopping

final class StopBox: Handled {
  static let kind = HandleKind.stop
  let signal: StopSignal
  init(_ signal: StopSignal) { self.signal = signal }
}

/// The signal of an optional stop handle.
@inline(__always)
func stopSignal(_ handle: OpaquePointer?) throws(CFailure) -> StopSignal? {
  // SAFETY: the handle is looked up, not dereferenced.
  guard let handle = unsafe handle else { return nil }
  return try unsafe HandleTable.shared.find(handle, StopBox.self).signal
}

@c @implementation
public func framebus_stop_open(
  _ stop: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(stop)
    try unsafe set(stop, StopBox(try SystemError.converted(try StopSignal())))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_stop_raise(_ stop: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    try unsafe HandleTable.shared.find(stop, StopBox.self).signal.raise()
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_stop_close(_ stop: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    _ = try unsafe HandleTable.shared.remove(stop, StopBox.self)
    return FRAMEBUS_OK
  }
}

// MARK: - Groups

final class GroupBox: Handled {
  static let kind = HandleKind.group
  let group: AppGroup
  init(_ group: AppGroup) { self.group = group }
}

@c @implementation
public func framebus_group_open(
  _ id: UnsafePointer<CChar>!, _ root: UnsafePointer<CChar>!,
  _ group: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(group)
    let idText = try unsafe optionalText(id, "id")
    let root = try unsafe optionalText(root, "root")
    var name = GroupID.local
    if let idText { name = try GroupIDError.converted(try GroupID(idText)) }
    try unsafe set(group, GroupBox(try GroupError.converted(try AppGroup.open(name, root: root))))
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_group_close(_ group: OpaquePointer!) -> Int32 {
  // SAFETY: the handle is looked up, not dereferenced.
  attempt { () throws(CFailure) in
    _ = try unsafe HandleTable.shared.remove(group, GroupBox.self)
    return FRAMEBUS_OK
  }
}
