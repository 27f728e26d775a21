import FrameBus

/// The gain of one channel for the left and the right loudspeaker.
struct StereoGain: Hashable {
  var left: Float
  var right: Float

  var isAudible: Bool { left != 0 || right != 0 }

  /// Attenuation of center, side and back channels: 3 dB (ITU-R BS.775).
  private static let attenuated: Float = 0.707_106_77

  private static let leftSide: ChannelMask = [
    .frontLeft, .frontLeftOfCenter, .topFrontLeft, .backLeft, .sideLeft, .topBackLeft,
  ]
  private static let rightSide: ChannelMask = [
    .frontRight, .frontRightOfCenter, .topFrontRight, .backRight, .sideRight, .topBackRight,
  ]
  private static let front: ChannelMask = [.frontLeft, .frontRight]

  /// The gain of each channel. Each side's gains sum to at most 1, so that no sum clips.
  static func gains(of format: AudioFormat) -> [StereoGain] {
    // A single channel is the whole sound, whatever its position.
    if format.channelCount == 1 { return [StereoGain(left: 1, right: 1)] }
    let positions = channelPositions(format)
    var gains = positions.map(gain)
    let loudest = max(1, gains.reduce(0) { $0 + $1.left }, gains.reduce(0) { $0 + $1.right })
    for index in gains.indices {
      gains[index].left /= loudest
      gains[index].right /= loudest
    }
    return gains
  }

  /// The position of each channel; empty for a channel without one.
  private static func channelPositions(_ format: AudioFormat) -> [ChannelMask] {
    let bits = (0..<64).map { ChannelMask(rawValue: 1 << UInt64($0)) }
      .filter { format.channelMask.contains($0) }
    // Without a mask, the first two channels are left and right.
    let known = bits.isEmpty ? pair : bits
    return (0..<format.channelCount).map { $0 < known.count ? known[$0] : [] }
  }

  private static let pair: [ChannelMask] = [.frontLeft, .frontRight]

  private static func gain(_ position: ChannelMask) -> StereoGain {
    if position.isEmpty || position == .lowFrequency { return StereoGain(left: 0, right: 0) }
    let level: Float = front.contains(position) ? 1 : attenuated
    if leftSide.contains(position) { return StereoGain(left: level, right: 0) }
    if rightSide.contains(position) { return StereoGain(left: 0, right: level) }
    return StereoGain(left: attenuated, right: attenuated)
  }
}
