package enum Checksum {
  package static func crc32c(_ bytes: RawSpan, after before: UInt32 = 0) -> UInt32 {
    var state = ~before
    for offset in 0..<bytes.byteCount {
      // SAFETY: any byte is a number.
      state ^= unsafe UInt32(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      for _ in 0..<8 { state = state >> 1 ^ (state & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
    return ~state
  }
}
