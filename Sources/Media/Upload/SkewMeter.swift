import FrameBus
import Sound

/// Measures how much later a beep is heard than its flash is seen, where pictures and sound are
/// passed to a destination. Its input is the sources `test:flash` and `beep`; with other pictures
/// and sound the result has no meaning.
struct SkewMeter {
  /// A flash and a beep further apart than this belong to different seconds.
  private static let longestNs: Int64 = 400_000_000
  /// A beep follows at least this many chunks of silence.
  private static let silenceCount = 10
  private static let loud: Float = 0.1

  private var flashes: [Int64] = []
  private var beeps: [Int64] = []
  private var wasWhite = true
  private var silentCount = 0

  mutating func see(_ frame: borrowing FrameLease, atNs ptsNs: UInt64) {
    guard let level = Self.brightness(frame) else { return }
    if level > 180, !wasWhite { flashes.append(Int64(clamping: ptsNs)) }
    wasWhite = level > 180
  }

  mutating func measure(_ chunk: SoundChunk, atNs ptsNs: UInt64) {
    let first = chunk.samples.firstIndex { abs($0) > Self.loud }
    if let first, silentCount >= Self.silenceCount {
      let sampleFrame = first / SoundChunk.channelCount
      let offsetNs = sampleFrame * 1_000_000_000 / SoundChunk.sampleRate
      beeps.append(Int64(clamping: ptsNs) + Int64(offsetNs))
    }
    silentCount = first == nil ? silentCount + 1 : 0
  }

  /// The median of all pairs; nil without a pair.
  var skewNs: Int64? {
    let skews = flashes.compactMap { flash in
      beeps.map { $0 - flash }.min { $0.magnitude < $1.magnitude }
    }.filter { $0.magnitude < Self.longestNs }.sorted()
    return skews.isEmpty ? nil : skews[skews.count / 2]
  }

  /// The brightness of the first plane, sampled at 64 positions; nil if the frame is not a picture.
  private static func brightness(_ frame: borrowing FrameLease) -> Int? {
    let format = frame.format
    guard let plane = format.planes.first, format.height >= 8, plane.stride >= 8 else { return nil }
    let bytes = frame.bytes
    var sum = 0
    for row in 0..<8 {
      for column in 0..<8 {
        let place = plane.offset + row * format.height / 8 * plane.stride
        let offset = place + column * plane.stride / 8
        guard offset < bytes.byteCount else { return nil }
        // SAFETY: the offset was compared with the length; any byte is a UInt8.
        sum += Int(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
      }
    }
    return sum / 64
  }
}
