import FrameBus

/// Self-checking frames: a number, a checksum, and words derived from the number, so that a mixture
/// of two frames is detected.
enum ProofFrame {
  static func fill(_ loan: inout FrameLoan, as number: UInt64) {
    let byteCount = loan.format.byteCount
    var bytes = loan.bytes
    var checksum = Checksum()
    for offset in stride(from: 16, to: byteCount & ~7, by: 8) {
      let word = word(at: offset, of: number)
      bytes.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
      checksum.add(word)
    }
    bytes.storeBytes(of: number, toByteOffset: 0, as: UInt64.self)
    bytes.storeBytes(of: checksum.value, toByteOffset: 8, as: UInt64.self)
    if isKey(number) { loan.metadata.flags.insert(.keyFrame) }
  }

  /// Whether a frame is a key frame, where not all are.
  static func isKey(_ number: UInt64) -> Bool { number % 5 == 1 }

  /// - Throws: ``ProofError`` unless the frame is complete and matches its sequence number.
  static func check(_ lease: borrowing FrameLease) throws(ProofError) {
    let number = lease.sequence.rawValue
    let bytes = lease.bytes
    guard bytes.byteCount == lease.format.byteCount else {
      throw ProofError("TORN frame \(number): \(bytes.byteCount) bytes of its format's")
    }
    var checksum = Checksum()
    for offset in stride(from: 16, to: bytes.byteCount & ~7, by: 8) {
      // SAFETY: the offset lies inside the frame.
      let found = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt64.self)
      guard found == word(at: offset, of: number) else {
        throw ProofError("TORN frame \(number) at byte \(offset): \(found)")
      }
      checksum.add(found)
    }
    // SAFETY: no frame here is shorter than two words.
    let first = unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt64.self)
    let second = unsafe bytes.unsafeLoad(fromByteOffset: 8, as: UInt64.self)
    guard first == number, second == checksum.value else {
      throw ProofError("TORN frame \(number): it begins as frame \(first), sum \(second)")
    }
  }

  /// The finisher of SplitMix64 over number and offset.
  private static func word(at offset: Int, of number: UInt64) -> UInt64 {
    var mixed = number &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(offset)
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return mixed ^ (mixed >> 31)
  }

  /// FNV-1a, a word at a time.
  private struct Checksum {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325
    mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x0000_0100_0000_01B3 }
  }
}

/// A detected error.
struct ProofError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
