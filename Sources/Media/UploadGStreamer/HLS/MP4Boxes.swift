#if Media
  /// The bytes of boxes (ISO/IEC 14496-12, section 4.2): numbers are big-endian.
  struct MP4Boxes {
    private(set) var bytes: [UInt8] = []

    mutating func box(_ type: String, _ body: (inout MP4Boxes) -> Void) {
      let start = bytes.count
      word(0)
      text(type)
      body(&self)
      patch(UInt32(bytes.count - start), at: start)
    }

    /// A box with a version and flags.
    mutating func box(
      _ type: String, version: UInt8, flags: UInt32 = 0, _ body: (inout MP4Boxes) -> Void
    ) {
      box(type) {
        $0.word(UInt32(version) << 24 | flags)
        body(&$0)
      }
    }

    mutating func text(_ text: String) { bytes += Array(text.utf8) }
    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func half(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xff)] }
    mutating func word(_ value: UInt32) {
      half(UInt16(value >> 16))
      half(UInt16(value & 0xffff))
    }
    mutating func long(_ value: UInt64) {
      word(UInt32(value >> 32))
      word(UInt32(value & 0xffff_ffff))
    }
    mutating func zeros(_ count: Int) { bytes += Array(repeating: 0, count: count) }
    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Replaces a word whose value was not known when it was written.
    mutating func patch(_ value: UInt32, at offset: Int) {
      for index in 0..<4 { bytes[offset + index] = UInt8(value >> (24 - 8 * index) & 0xff) }
    }
  }
#endif
