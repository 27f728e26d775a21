/// How one sample of raw sound lies in memory. Integers are signed but for `u8`, whose silence is
/// 128; floats are from −1 to 1. `le` and `be` are the byte orders.
public enum SampleFormat: UInt32, Hashable, Sendable, CaseIterable {
  case u8 = 1
  case s8
  case s16le, s16be
  /// Three bytes.
  case s24le, s24be
  /// The low three bytes of four; the high one means nothing.
  case s24in32le, s24in32be
  case s32le, s32be
  case f32le, f32be
  case f64le, f64be

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

/// Which loudspeaker a channel is for: the bits of `dwChannelMask` in WAVEFORMATEXTENSIBLE.
/// Channels lie in the order of their bits; those beyond the last bit have no place in the room.
public struct ChannelMask: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let frontLeft = ChannelMask(rawValue: 0x1)
  public static let frontRight = ChannelMask(rawValue: 0x2)
  public static let frontCenter = ChannelMask(rawValue: 0x4)
  public static let lowFrequency = ChannelMask(rawValue: 0x8)
  public static let backLeft = ChannelMask(rawValue: 0x10)
  public static let backRight = ChannelMask(rawValue: 0x20)
  public static let frontLeftOfCenter = ChannelMask(rawValue: 0x40)
  public static let frontRightOfCenter = ChannelMask(rawValue: 0x80)
  public static let backCenter = ChannelMask(rawValue: 0x100)
  public static let sideLeft = ChannelMask(rawValue: 0x200)
  public static let sideRight = ChannelMask(rawValue: 0x400)
  public static let topCenter = ChannelMask(rawValue: 0x800)
  public static let topFrontLeft = ChannelMask(rawValue: 0x1000)
  public static let topFrontCenter = ChannelMask(rawValue: 0x2000)
  public static let topFrontRight = ChannelMask(rawValue: 0x4000)
  public static let topBackLeft = ChannelMask(rawValue: 0x8000)
  public static let topBackCenter = ChannelMask(rawValue: 0x1_0000)
  public static let topBackRight = ChannelMask(rawValue: 0x2_0000)

  public static let mono: ChannelMask = [.frontCenter]
  public static let stereo: ChannelMask = [.frontLeft, .frontRight]
  public static let quad: ChannelMask = [.stereo, .backLeft, .backRight]
  public static let surround51: ChannelMask = [
    .stereo, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ]
  public static let surround71: ChannelMask = [.surround51, .backLeft, .backRight]
}

/// How sound lies in a frame's bytes; for encoded sound, what it decodes to.
///
/// A *sample frame* is one sample of each channel. Interleaved, sample frames follow each other;
/// planar, all samples of a channel do, and the channels follow each other, each as long as the
/// payload divided by their number.
public struct AudioFormat: Hashable, Sendable {
  public let sampleFormat: SampleFormat
  /// Sample frames a second.
  public let sampleRate: Int
  public let channelCount: Int
  public let channelMask: ChannelMask
  public let isInterleaved: Bool

  public static let maximumChannelCount = 256

  /// - Parameters:
  ///   - sampleRate: `1...UInt32.max`.
  ///   - channelCount: `1...maximumChannelCount`.
  ///   - channelMask: no more bits than channels; nil for the usual one of mono and stereo, and
  ///     for none otherwise.
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

  /// Sample frames in so many bytes of raw sound.
  public func sampleFrameCount(inBytes byteCount: Int) -> Int { byteCount / sampleFrameBytes }

  /// Where a channel's samples begin in so many bytes of raw sound, and how far apart they are.
  public func plane(ofChannel channel: Int, inBytes byteCount: Int) -> Plane {
    precondition(channel < channelCount, "channel \(channel) of \(channelCount)")
    let sampleBytes = sampleFormat.byteCount
    if isInterleaved { return Plane(offset: channel * sampleBytes, stride: sampleFrameBytes) }
    let offset = channel * sampleFrameCount(inBytes: byteCount) * sampleBytes
    return Plane(offset: offset, stride: sampleBytes)
  }

  /// How long so many sample frames last, to the nanosecond below.
  public func durationNs(ofSampleFrames count: Int) -> UInt64 {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: sampleRate)
    return UInt64(seconds) * 1_000_000_000 + UInt64(rest) * 1_000_000_000 / UInt64(sampleRate)
  }
}

extension FrameLease {
  /// How many sample frames of raw sound it has; nil for everything else.
  public var sampleFrameCount: Int? {
    format.fourcc == .pcm ? format.audio?.sampleFrameCount(inBytes: byteCount) : nil
  }
}
