import FrameBus

/// Converts raw sound of any sample format, layout and byte order to stereo floats from −1 to 1.
struct SampleReader {
  private let format: AudioFormat
  /// The gain of each channel for left and right.
  private let gains: [StereoGain]

  init(_ format: AudioFormat) {
    self.format = format
    gains = StereoGain.gains(of: format)
  }

  /// - Returns: interleaved left and right samples, one pair for each whole sample frame.
  func read(_ bytes: RawSpan) -> [Float] {
    let count = format.sampleFrameCount(inBytes: bytes.byteCount)
    var result = [Float](repeating: 0, count: count * 2)
    for (channel, gain) in gains.enumerated() where gain.isAudible {
      let plane = format.plane(ofChannel: channel, inBytes: bytes.byteCount)
      for index in 0..<count {
        let value = sample(of: bytes, at: plane.offset + index * plane.stride)
        result[2 * index] += value * gain.left
        result[2 * index + 1] += value * gain.right
      }
    }
    return result
  }

  /// One sample. Integers are divided by a power of two, so they stay exact where a float can.
  private func sample(of bytes: RawSpan, at offset: Int) -> Float {
    switch format.sampleFormat {
    case .u8: return Float(Int(bytes.byte(offset)) - 128) / 128
    case .s8: return Float(Int8(bitPattern: bytes.byte(offset))) / 128
    case .s16le: return Float(Int16(truncatingIfNeeded: bytes.little(offset, 2))) / 32_768
    case .s16be: return Float(Int16(truncatingIfNeeded: bytes.big(offset, 2))) / 32_768
    case .s24le, .s24in32le: return Self.float24(bytes.little(offset, 3))
    case .s24be: return Self.float24(bytes.big(offset, 3))
    case .s24in32be: return Self.float24(bytes.big(offset + 1, 3))
    case .s32le: return Self.float32(bytes.little(offset, 4))
    case .s32be: return Self.float32(bytes.big(offset, 4))
    case .f32le: return Self.bounded(Float(bitPattern: UInt32(bytes.little(offset, 4))))
    case .f32be: return Self.bounded(Float(bitPattern: UInt32(bytes.big(offset, 4))))
    case .f64le: return Self.bounded(Float(Double(bitPattern: bytes.little(offset, 8))))
    case .f64be: return Self.bounded(Float(Double(bitPattern: bytes.big(offset, 8))))
    }
  }

  private static func float24(_ bits: UInt64) -> Float {
    Float(Int32(truncatingIfNeeded: bits << 8) >> 8) / 8_388_608
  }

  private static func float32(_ bits: UInt64) -> Float {
    Float(Int32(truncatingIfNeeded: bits)) / 2_147_483_648
  }

  /// Floats written by another process can be any bits; NaN and infinity become silence.
  private static func bounded(_ value: Float) -> Float {
    value.isFinite ? min(max(value, -1), 1) : 0
  }
}

extension RawSpan {
  fileprivate func byte(_ offset: Int) -> UInt8 {
    precondition(offset < byteCount, "byte \(offset) of \(byteCount)")
    // SAFETY: any byte is a valid UInt8, and the offset was checked against the length.
    return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Reads `count` bytes, least significant first.
  fileprivate func little(_ offset: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<count { value |= UInt64(byte(offset + index)) << UInt64(8 * index) }
    return value
  }

  /// Reads `count` bytes, most significant first.
  fileprivate func big(_ offset: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<count { value = value << 8 | UInt64(byte(offset + index)) }
    return value
  }
}
