import FrameBus

/// How loud a channel is in each of two loudspeakers.
struct StereoGain: Hashable {
  var left: Float
  var right: Float

  var isHeard: Bool { left != 0 || right != 0 }

  /// What a channel loses that is heard from both sides or from behind: 3 dB (ITU-R BS.775).
  private static let quieter: Float = 0.707_106_77

  private static let leftSide: ChannelMask = [
    .frontLeft, .frontLeftOfCenter, .topFrontLeft, .backLeft, .sideLeft, .topBackLeft,
  ]
  private static let rightSide: ChannelMask = [
    .frontRight, .frontRightOfCenter, .topFrontRight, .backRight, .sideRight, .topBackRight,
  ]
  private static let front: ChannelMask = [.frontLeft, .frontRight]

  /// One for each channel. Together they never exceed 1, so that no sum is cut off.
  static func gains(of format: AudioFormat) -> [StereoGain] {
    // One channel is the whole sound, wherever it stands.
    if format.channelCount == 1 { return [StereoGain(left: 1, right: 1)] }
    let places = placesOfChannels(format)
    var gains = places.map(gain)
    let loudest = max(1, gains.reduce(0) { $0 + $1.left }, gains.reduce(0) { $0 + $1.right })
    for index in gains.indices {
      gains[index].left /= loudest
      gains[index].right /= loudest
    }
    return gains
  }

  /// Where each channel is heard; nothing for those that have no place.
  private static func placesOfChannels(_ format: AudioFormat) -> [ChannelMask] {
    let bits = (0..<64).map { ChannelMask(rawValue: 1 << UInt64($0)) }
      .filter { format.channelMask.contains($0) }
    // Without a mask, the first two are left and right.
    let known = bits.isEmpty ? pair : bits
    return (0..<format.channelCount).map { $0 < known.count ? known[$0] : [] }
  }

  private static let pair: [ChannelMask] = [.frontLeft, .frontRight]

  private static func gain(_ place: ChannelMask) -> StereoGain {
    if place.isEmpty || place == .lowFrequency { return StereoGain(left: 0, right: 0) }
    let level: Float = front.contains(place) ? 1 : quieter
    if leftSide.contains(place) { return StereoGain(left: level, right: 0) }
    if rightSide.contains(place) { return StereoGain(left: 0, right: level) }
    return StereoGain(left: quieter, right: quieter)
  }
}
