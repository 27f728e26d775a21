import AppGroup
import FrameBus
import Platform
import TestSupport

/// One input of the fuzzer, consumed from its front. After its end it reads as zeros.
@safe public struct FuzzInput {
  /// SAFETY: valid while the fuzzer's call lasts, which no input outlives.
  private var rest: UnsafeRawBufferPointer

  @unsafe public init(_ bytes: UnsafePointer<UInt8>?, count: Int) {
    unsafe rest = UnsafeRawBufferPointer(start: bytes, count: count)
  }

  public var isEmpty: Bool { unsafe rest.isEmpty }

  public mutating func byte() -> UInt8 {
    guard let first = unsafe rest.first else { return 0 }
    unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
    return first
  }

  public mutating func number(bytes count: Int) -> UInt64 {
    (0..<count).reduce(0) { sum, index in sum | UInt64(byte()) << (8 * UInt64(index)) }
  }

  public mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = unsafe Array(rest.prefix(count))
    unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    return taken
  }

  /// Fills a record from the input.
  public mutating func fill<Record: BitwiseCopyable>(_ record: inout Record) {
    let taken = bytes(MemoryLayout<Record>.size)
    // SAFETY: at most the record's size is written, and its fields are plain numbers.
    unsafe withUnsafeMutableBytes(of: &record) { unsafe $0.copyBytes(from: taken) }
  }
}

/// The group of a fuzz target, and its only stream.
public struct FuzzWorld: Sendable {
  private let root: TemporaryRoot
  public let group: AppGroup
  public let stream: StreamName

  public init() {
    do {
      root = try TemporaryRoot()
      group = try AppGroup.create(GroupID("org.example.fuzz"), root: root.path)
      stream = try StreamName("screen")
    } catch { fatalError("no world to fuzz in: \(error)") }
  }

  public var socketPath: String { "\(group.streamsPath)/\(stream).sock" }
}

extension MessageSocket {
  package borrowing func send(bytes: [UInt8], descriptors: [Int32] = []) -> SendResult {
    // SAFETY: the span is used during the call only.
    unsafe bytes.withUnsafeBytes { bytes in
      send(unsafe RawSpan(_unsafeBytes: bytes), descriptors: descriptors)
    }
  }
}
