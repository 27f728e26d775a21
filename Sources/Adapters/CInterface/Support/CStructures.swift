import CFrameBus
import Platform

// Structures and strings of C.
//
/// SAFETY: of every pointer that C passes the header demands that it is NULL or valid: of a
/// structure for the size that it says, of a string up to its zero byte. Each is read once.

/// Structures larger than this are not from a later version of the interface.
private let largestStructureBytes = 1 << 16

/// Runs a call of C, and reports its error.
@inline(__always)
func attempt(
  _ error: UnsafeMutablePointer<framebus_error>?, _ body: () throws(CFailure) -> Int
) -> Int32 {
  do throws(CFailure) { return Int32(truncatingIfNeeded: try body()) } catch let failure {
    unsafe report(failure, into: error)
    return failure.code
  }
}

/// Runs a call of C without an error object.
@inline(__always)
func attempt(_ body: () throws(CFailure) -> Int) -> Int32 { attempt(nil, body) }

/// Runs a call of C on the object of a handle.
@inline(__always)
func using<Object: Handled>(
  _ handle: OpaquePointer?, _ type: Object.Type,
  _ error: UnsafeMutablePointer<framebus_error>? = nil, _ body: (Object) throws(CFailure) -> Int
) -> Int32 {
  unsafe attempt(error) { () throws(CFailure) in
    try body(unsafe HandleTable.shared.find(handle, type))
  }
}

/// The same without retaining the object, for calls that are made for each frame.
@inline(__always)
func usingUnretained<Object: Handled>(
  _ handle: OpaquePointer?, _ type: Object.Type,
  _ error: UnsafeMutablePointer<framebus_error>?, _ body: (Object) throws(CFailure) -> Int
) -> Int32 {
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe HandleTable.shared.look(handle, type).with(body)
  }
}

/// Ends a handle and releases its object.
func closeHandle<Object: Handled>(_ handle: OpaquePointer?, _ type: Object.Type) -> Int32 {
  attempt { () throws(CFailure) in
    _ = try unsafe HandleTable.shared.remove(handle, type)
    return FRAMEBUS_OK
  }
}

@inline(never)
private func report(_ failure: CFailure, into error: UnsafeMutablePointer<framebus_error>?) {
  guard let error = unsafe error, unsafe error.pointee.size >= MemoryLayout<framebus_error>.size
  else { return }
  var filled = framebus_error()
  filled.code = failure.code
  filled.system_error = failure.systemError
  unsafe withUnsafeMutableBytes(of: &filled.message) { unsafe $0.copyText(failure.message) }
  try? unsafe store(filled, into: error)
}

/// Reports that a lossless subscriber is behind, without allocating: a publisher that polls has
/// this result between any two frames.
@inline(never)
func reportBackpressure(
  _ subscriber: Int, _ lagFrames: UInt64, into error: UnsafeMutablePointer<framebus_error>?
) -> Int {
  guard let error = unsafe error, unsafe error.pointee.size >= MemoryLayout<framebus_error>.size
  else { return FRAMEBUS_ERROR_BACKPRESSURE }
  unsafe error.pointee.code = Int32(FRAMEBUS_ERROR_BACKPRESSURE)
  unsafe error.pointee.system_error = 0
  unsafe withUnsafeMutableBytes(of: &error.pointee.message) { message in
    var count = 0
    func append(_ text: StaticString) {
      // SAFETY: the texts and two numbers are shorter than the field.
      unsafe (message.baseAddress! + count).copyMemory(
        from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
      count += text.utf8CodeUnitCount
    }
    func append(_ number: UInt64) {
      var divisor: UInt64 = 1
      while number / divisor >= 10 { divisor *= 10 }
      while divisor > 0 {
        unsafe message[count] = UInt8(ascii: "0") + UInt8(number / divisor % 10)
        count += 1
        divisor /= 10
      }
    }
    append("lossless subscriber ")
    append(UInt64(subscriber))
    append(" is ")
    append(lagFrames)
    append(" frames behind; pass a later deadline, or run `framebus streams`")
    unsafe message[count] = 0
  }
  return FRAMEBUS_ERROR_BACKPRESSURE
}

/// The structure that C passes as an argument.
func load<Structure: BitwiseCopyable>(
  _ pointer: UnsafePointer<Structure>?, _ name: StaticString
) throws(CFailure) -> Structure {
  guard let pointer = unsafe pointer else {
    throw .argument("\(name) is NULL; pass the address of one")
  }
  let bytes = unsafe UnsafeRawPointer(pointer)
  let size = try check(unsafe bytes.load(as: Int.self), of: Structure.self, name)
  for offset in MemoryLayout<Structure>.size..<max(size, MemoryLayout<Structure>.size)
  where unsafe bytes.load(fromByteOffset: offset, as: UInt8.self) != 0 {
    throw .argument(
      "\(name) has a field that this version of the library does not know; install a newer one")
  }
  return unsafe pointer.pointee
}

/// Fails unless C can receive the structure.
@inline(__always)
func require<Structure: BitwiseCopyable>(
  _ pointer: UnsafeMutablePointer<Structure>?, _ name: StaticString
) throws(CFailure) {
  guard let pointer = unsafe pointer else {
    throw .argument("\(name) is NULL; pass the address of one")
  }
  _ = try check(unsafe UnsafeRawPointer(pointer).load(as: Int.self), of: Structure.self, name)
}

/// Stores a structure for C, whose size stays what it was.
@inline(__always)
func store<Structure: BitwiseCopyable>(
  _ value: Structure, into pointer: UnsafeMutablePointer<Structure>?
) throws(CFailure) {
  guard let pointer = unsafe pointer else {
    throw .argument("a structure is NULL; pass the address of one")
  }
  let bytes = UnsafeMutableRawPointer(pointer)
  let size = unsafe bytes.load(as: Int.self)
  unsafe pointer.pointee = value
  unsafe bytes.storeBytes(of: size, as: Int.self)
  if size > MemoryLayout<Structure>.size {
    unsafe (bytes + MemoryLayout<Structure>.size).initializeMemory(
      as: UInt8.self, repeating: 0, count: size - MemoryLayout<Structure>.size)
  }
}

@inline(__always)
private func check<Structure>(
  _ size: Int, of type: Structure.Type, _ name: StaticString
) throws(CFailure) -> Int {
  guard size >= MemoryLayout<Structure>.size, size <= largestStructureBytes else {
    throw wrongSize(size, MemoryLayout<Structure>.size, name)
  }
  return size
}

@inline(never)
private func wrongSize(_ size: Int, _ expected: Int, _ name: StaticString) -> CFailure {
  .argument("\(name)->size is \(size); set it to the structure's size, \(expected) or more")
}

/// Stores a result that has no size of its own.
func set<Value>(
  _ pointer: UnsafeMutablePointer<Value>?, _ name: StaticString, to value: Value
) throws(CFailure) {
  guard let pointer = unsafe pointer else {
    throw .argument("\(name) is NULL; pass the address of one")
  }
  unsafe pointer.pointee = value
}

/// Stores a new handle, or closes it again.
func set(
  _ pointer: UnsafeMutablePointer<OpaquePointer?>?, _ object: some Handled
) throws(CFailure) {
  guard let pointer = unsafe pointer else {
    throw .argument("the address of the handle is NULL; pass that of a variable")
  }
  unsafe pointer.pointee = try HandleTable.shared.add(object)
}

/// Fails early where a handle could not be made.
func require(_ pointer: UnsafeMutablePointer<OpaquePointer?>?) throws(CFailure) {
  try HandleTable.shared.requireParent()
  guard let pointer = unsafe pointer else {
    throw .argument("the address of the handle is NULL; pass that of a variable")
  }
  unsafe pointer.pointee = nil
}

/// The text of a string; nil for NULL.
func optionalText(
  _ pointer: UnsafePointer<CChar>?, _ name: StaticString
) throws(CFailure) -> String? {
  guard let pointer = unsafe pointer else { return nil }
  guard let text = unsafe String(validatingCString: pointer) else {
    throw .argument("\(name) is not UTF-8; pass text in UTF-8")
  }
  return text
}

func text(_ pointer: UnsafePointer<CChar>?, _ name: StaticString) throws(CFailure) -> String {
  guard let text = try unsafe optionalText(pointer, name) else {
    throw .argument("\(name) is NULL; pass the address of one")
  }
  return text
}

extension UnsafeMutableRawBufferPointer {
  /// Copies a text with a zero byte behind it, and cuts it between two characters.
  func copyText(_ text: String) {
    var bytes = text.utf8.prefix(count - 1)
    while String(bytes) == nil { bytes = bytes.dropLast() }
    unsafe copyBytes(from: bytes)
    unsafe self[bytes.count] = 0
  }
}

/// An option whose 0 is the default.
func option(_ value: some FixedWidthInteger, default usual: Int) -> Int {
  value == 0 ? usual : Int(clamping: value)
}
