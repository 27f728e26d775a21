/// The memory layout of one sample of raw sound. Integers are signed except `u8`, whose silence is
/// 128; floats range from −1 to 1. `le` and `be` are the byte orders.
public enum SampleFormat: UInt32, Hashable, Sendable, CaseIterable {
  /// One unsigned byte.
  case u8 = 1
  /// One byte.
  case s8
  /// Two bytes.
  case s16le, s16be
  /// Three bytes.
  case s24le, s24be
  /// The low three bytes of four; the high byte is undefined.
  case s24in32le, s24in32be
  /// Four bytes.
  case s32le, s32be
  /// Four bytes, IEEE 754.
  case f32le, f32be
  /// Eight bytes, IEEE 754.
  case f64le, f64be

  /// Bytes of one sample.
  public var byteCount: Int {
    switch self {
    case .u8, .s8: 1
    case .s16le, .s16be: 2
    case .s24le, .s24be: 3
    case .s24in32le, .s24in32be, .s32le, .s32be, .f32le, .f32be: 4
    case .f64le, .f64be: 8
    }
  }
}

/// The loudspeaker positions of the channels: the bits of `dwChannelMask` in WAVEFORMATEXTENSIBLE.
/// Channels are in the order of their bits; channels beyond the last bit have no position.
public struct ChannelMask: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Left, in front.
  public static let frontLeft = ChannelMask(rawValue: 0x1)
  /// Right, in front.
  public static let frontRight = ChannelMask(rawValue: 0x2)
  /// In the middle, in front.
  public static let frontCenter = ChannelMask(rawValue: 0x4)
  /// The subwoofer.
  public static let lowFrequency = ChannelMask(rawValue: 0x8)
  /// Left, behind the listener.
  public static let backLeft = ChannelMask(rawValue: 0x10)
  /// Right, behind the listener.
  public static let backRight = ChannelMask(rawValue: 0x20)
  /// Between left and middle, in front.
  public static let frontLeftOfCenter = ChannelMask(rawValue: 0x40)
  /// Between right and middle, in front.
  public static let frontRightOfCenter = ChannelMask(rawValue: 0x80)
  /// In the middle, behind the listener.
  public static let backCenter = ChannelMask(rawValue: 0x100)
  /// Left of the listener.
  public static let sideLeft = ChannelMask(rawValue: 0x200)
  /// Right of the listener.
  public static let sideRight = ChannelMask(rawValue: 0x400)
  /// Above the listener.
  public static let topCenter = ChannelMask(rawValue: 0x800)
  /// Above, left in front.
  public static let topFrontLeft = ChannelMask(rawValue: 0x1000)
  /// Above, in the middle in front.
  public static let topFrontCenter = ChannelMask(rawValue: 0x2000)
  /// Above, right in front.
  public static let topFrontRight = ChannelMask(rawValue: 0x4000)
  /// Above, left behind.
  public static let topBackLeft = ChannelMask(rawValue: 0x8000)
  /// Above, in the middle behind.
  public static let topBackCenter = ChannelMask(rawValue: 0x1_0000)
  /// Above, right behind.
  public static let topBackRight = ChannelMask(rawValue: 0x2_0000)

  /// One channel.
  public static let mono: ChannelMask = [.frontCenter]
  /// Two channels.
  public static let stereo: ChannelMask = [.frontLeft, .frontRight]
  /// Four channels, in the corners.
  public static let quad: ChannelMask = [.stereo, .backLeft, .backRight]
  /// 5.1 channels.
  public static let surround51: ChannelMask = [
    .stereo, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ]
  /// 7.1 channels.
  public static let surround71: ChannelMask = [.surround51, .backLeft, .backRight]
}

/// The layout of raw sound in a frame's bytes; for encoded sound, the format that it decodes to.
///
/// A *sample frame* is one sample of each channel. Interleaved sound is a sequence of sample
/// frames. Planar sound is a sequence of channels, each with all of its samples; all channels have
/// the same length, the payload divided by their number.
public struct AudioFormat: Hashable, Sendable {
  /// The layout of one sample.
  public let sampleFormat: SampleFormat
  /// Sample frames per second.
  public let sampleRate: Int
  /// The number of channels.
  public let channelCount: Int
  /// The positions of the channels.
  public let channelMask: ChannelMask
  /// Whether samples of all channels alternate.
  public let isInterleaved: Bool

  /// The most channels that a format can have.
  public static let maximumChannelCount = 256

  /// - Parameters:
  ///   - sampleRate: `1...UInt32.max`.
  ///   - channelCount: `1...maximumChannelCount`.
  ///   - channelMask: at most as many bits as channels; nil for the standard mask of mono or
  ///     stereo, and for an empty mask otherwise.
  public init(
    _ sampleFormat: SampleFormat, sampleRate: Int, channelCount: Int,
    channelMask: ChannelMask? = nil, isInterleaved: Bool = true
  ) throws(FrameFormatError) {
    let usual: ChannelMask = [1: .mono, 2: .stereo][channelCount] ?? []
    let mask = channelMask ?? usual
    guard (1...Int(UInt32.max)).contains(sampleRate),
      (1...Self.maximumChannelCount).contains(channelCount),
      mask.rawValue.nonzeroBitCount <= channelCount
    else { throw .wrongSound(sampleRate: sampleRate, channelCount: channelCount) }
    self.sampleFormat = sampleFormat
    self.sampleRate = sampleRate
    self.channelCount = channelCount
    self.channelMask = mask
    self.isInterleaved = isInterleaved
  }

  /// Bytes of one sample frame.
  public var sampleFrameBytes: Int { sampleFormat.byteCount * channelCount }

  /// The number of sample frames in `byteCount` bytes of raw sound.
  public func sampleFrameCount(inBytes byteCount: Int) -> Int { byteCount / sampleFrameBytes }

  /// The offset and stride of a channel's samples in `byteCount` bytes of raw sound.
  public func plane(ofChannel channel: Int, inBytes byteCount: Int) -> Plane {
    precondition(channel < channelCount, "channel \(channel) of \(channelCount)")
    let sampleBytes = sampleFormat.byteCount
    if isInterleaved { return Plane(offset: channel * sampleBytes, stride: sampleFrameBytes) }
    let offset = channel * sampleFrameCount(inBytes: byteCount) * sampleBytes
    return Plane(offset: offset, stride: sampleBytes)
  }

  /// The duration of `count` sample frames, rounded down to a nanosecond.
  public func durationNs(ofSampleFrames count: Int) -> UInt64 {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: sampleRate)
    return UInt64(seconds) * 1_000_000_000 + UInt64(rest) * 1_000_000_000 / UInt64(sampleRate)
  }
}

extension FrameLease {
  /// The number of sample frames of raw sound; nil for everything else.
  public var sampleFrameCount: Int? {
    format.fourcc == .pcm ? format.audio?.sampleFrameCount(inBytes: byteCount) : nil
  }
}
