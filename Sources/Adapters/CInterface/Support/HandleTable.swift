import CFrameBus
import Platform
import Synchronization

/// What a handle of C stands for. The number is part of the handle.
enum HandleKind: UInt {
  case group = 1
  case stop, publisher, loan, subscriber, lease, streams, notifications, observation, settings
  case settingsObservation, log, semaphore, secret

  /// The type's name in C.
  var name: String {
    switch self {
    case .settingsObservation: "framebus_settings_observation"
    default: "framebus_\(self)"
    }
  }
}

/// An object that C refers to by a handle.
protocol Handled: AnyObject {
  static var kind: HandleKind { get }
}

/// The handles of this copy of the library.
///
/// A handle is a number in the shape of a pointer, and not an address: an index, the kind and a
/// generation. So a closed, released, foreign or made-up handle is an error, and never a crash.
@safe final class HandleTable: @unchecked Sendable {
  // because an entry's object changes only while its stamp is 0, and its index belongs to one owner

  static let shared = HandleTable()

  /// SAFETY: the object is retained from `reserve` to `release`.
  @safe private struct Entry: ~Copyable {
    /// The bits of the handle that is valid now; 0 for none.
    let stamp = Atomic<UInt>(0)
    /// How often this entry was activated. Written by its owner alone.
    var generation: UInt = 0
    var object: UnsafeMutableRawPointer?
    /// Which part of the object it is, if the object is several: a number of its owner's.
    var part = 0
  }

  private static let indexBits: UInt = 16
  private static let kindBits: UInt = 5
  private static let capacity = 1 << 16

  /// SAFETY: one entry for each index that a handle can have, never freed. Zeros are an entry
  /// without an object, so none is initialised before its use, and in a forked child, where the
  /// kernel clears them, no handle is valid. An object is retained from `reserve` to `release`.
  private let entries: UnsafeMutablePointer<Entry>
  private let unused = Mutex(Unused())
  private let fork = ForkMark()

  private struct Unused {
    /// The entries from here on were never used.
    var end = 0
    var released: [Int] = []
  }

  private init() {
    unsafe entries = memoryClearedInChildren(
      byteCount: Self.capacity * MemoryLayout<Entry>.stride
    ).bindMemory(to: Entry.self, capacity: Self.capacity)
  }

  /// Adds an object, which the table retains until `remove`.
  func add<Object: Handled>(_ object: Object) throws(CFailure) -> OpaquePointer? {
    try unsafe activate(reserve(object), Object.kind)
  }

  /// Adds an object, whose entry its owner activates.
  func reserve<Object: Handled>(
    _ object: Object, part: Int = 0
  ) throws(CFailure) -> Int {
    try requireParent()
    let index = unused.withLock { unused -> Int? in
      if let index = unused.released.popLast() { return index }
      guard unused.end < Self.capacity else { return nil }
      defer { unused.end += 1 }
      return unused.end
    }
    guard let index else {
      throw CFailure(
        FRAMEBUS_ERROR_LIMIT,
        "all \(Self.capacity) handles of this process are in use; close some")
    }
    unsafe entries[index].object = Unmanaged<Object>.passRetained(object).toOpaque()
    unsafe entries[index].part = part
    return index
  }

  /// Makes a handle of a reserved entry that has none. Its owner calls it.
  @inline(__always)
  func activate(_ index: Int, _ kind: HandleKind) -> OpaquePointer? {
    unsafe entries[index].generation += 1
    let bits =
      unsafe (entries[index].generation << Self.kindBits | kind.rawValue) << Self.indexBits
      | UInt(index)
    unsafe entries[index].stamp.store(bits, ordering: .releasing)
    return unsafe OpaquePointer(bitPattern: bits)
  }

  /// The object of a handle.
  @inline(__always)
  func find<Object: Handled>(
    _ handle: OpaquePointer?, _ type: Object.Type
  ) throws(CFailure) -> Object {
    try unsafe look(handle, type).object.takeUnretainedValue()
  }

  /// An object that its entry retains, and the part of it that a handle stands for.
  @unsafe struct Found<Object: AnyObject> {
    let object: Unmanaged<Object>
    let part: Int

    /// Uses the object, which its entry keeps.
    @inline(__always)
    func with(_ body: (Object) throws(CFailure) -> Int) throws(CFailure) -> Int {
      let result = unsafe object._withUnsafeGuaranteedRef { object in
        Result { () throws(CFailure) in try body(object) }
      }
      return try result.get()
    }
  }

  /// The object of a handle, without retaining it: for calls that are made for each frame.
  @inline(__always)
  @unsafe func look<Object: Handled>(
    _ handle: OpaquePointer?, _ type: Object.Type
  ) throws(CFailure) -> Found<Object> {
    try unsafe found(entry(of: handle, Object.kind))
  }

  @inline(__always)
  private func found<Object: Handled>(_ index: Int) throws(CFailure) -> Found<Object> {
    guard let object = unsafe entries[index].object else { throw wrong(Object.kind) }
    return unsafe Found(object: .fromOpaque(object), part: entries[index].part)
  }

  /// Ends a handle. Of several threads that try, one succeeds.
  @inline(__always)
  @unsafe func deactivate<Object: Handled>(
    _ handle: OpaquePointer?, _ type: Object.Type
  ) throws(CFailure) -> Found<Object> {
    let index = try unsafe entry(of: handle, Object.kind)
    // Before the handle ends: from then on its owner may free the entry.
    let found: Found<Object> = try unsafe found(index)
    let (isOurs, _) = unsafe entries[index].stamp.compareExchange(
      expected: UInt(bitPattern: handle), desired: 0, ordering: .acquiringAndReleasing)
    guard isOurs else { throw wrong(Object.kind) }
    return unsafe found
  }

  /// Ends the handle of an entry, for its owner's thread alone.
  @inline(__always)
  func retire(_ index: Int) { unsafe entries[index].stamp.store(0, ordering: .releasing) }

  /// Ends a handle and forgets its object, which the caller then owns.
  func remove<Object: Handled>(
    _ handle: OpaquePointer?, _ type: Object.Type
  ) throws(CFailure) -> Object {
    let object = try unsafe deactivate(handle, type).object.takeUnretainedValue()
    release(Int(UInt(bitPattern: handle) & (1 << Self.indexBits - 1)))
    return object
  }

  /// Frees a reserved entry, whose handle ends.
  func release(_ index: Int) {
    retire(index)
    if let object = unsafe entries[index].object {
      unsafe Unmanaged<AnyObject>.fromOpaque(object).release()
    }
    unsafe entries[index].object = nil
    unused.withLock { $0.released.append(index) }
  }

  @inline(__always)
  private func entry(of handle: OpaquePointer?, _ kind: HandleKind) throws(CFailure) -> Int {
    let bits = UInt(bitPattern: handle)
    let index = Int(bits & (1 << Self.indexBits - 1))
    guard bits >> Self.indexBits & (1 << Self.kindBits - 1) == kind.rawValue,
      unsafe entries[index].stamp.load(ordering: .acquiring) == bits
    else { throw wrong(kind) }
    return index
  }

  func requireParent() throws(CFailure) {
    guard fork.isInChild else { return }
    throw CFailure(
      FRAMEBUS_ERROR_FORKED,
      "the library was used before fork(2); call exec(3) in the child, or use it there alone")
  }

  @inline(never)
  private func wrong(_ kind: HandleKind) -> CFailure {
    do throws(CFailure) { try requireParent() } catch { return error }
    return CFailure(
      FRAMEBUS_ERROR_HANDLE,
      "the handle is not a valid \(kind.name); it is NULL, or was closed, released or made of "
        + "something else")
  }
}
