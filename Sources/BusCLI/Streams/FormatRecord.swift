import FrameBus

/// The JSON form of a format. Field names are a stable interface.
struct FormatRecord: Encodable {
  struct Color: Encodable {
    let name: String
    /// Code points of ITU-T H.273.
    let primaries: UInt8
    let transfer: UInt8
    let matrix: UInt8
    let range: String
  }

  struct Audio: Encodable {
    let sampleFormat: String
    let sampleRate: Int
    let channelCount: Int
    /// As in WAVEFORMATEXTENSIBLE.
    let channelMask: UInt64
    let isInterleaved: Bool
  }

  struct Rate: Encodable {
    let numerator: Int
    let denominator: Int
  }

  struct PlaneRecord: Encodable {
    let offset: Int
    let stride: Int
  }

  let kind: String
  let fourcc: String
  let width: Int
  let height: Int
  let byteCount: Int
  let planes: [PlaneRecord]
  let frameRate: Rate
  let colorSpace: Color
  /// Nil for formats without sound.
  let audio: Audio?

  init(_ format: FrameFormat) {
    kind = "\(format.kind)"
    fourcc = "\(format.fourcc)"
    width = format.width
    height = format.height
    byteCount = format.byteCount
    planes = format.planes.map { PlaneRecord(offset: $0.offset, stride: $0.stride) }
    frameRate = Rate(
      numerator: format.frameRate.numerator, denominator: format.frameRate.denominator)
    let color = format.colorSpace
    colorSpace = Color(
      name: "\(color)", primaries: color.primaries.rawValue, transfer: color.transfer.rawValue,
      matrix: color.matrix.rawValue, range: "\(color.range)")
    audio = format.audio.map {
      Audio(
        sampleFormat: "\($0.sampleFormat)", sampleRate: $0.sampleRate,
        channelCount: $0.channelCount, channelMask: $0.channelMask.rawValue,
        isInterleaved: $0.isInterleaved)
    }
  }
}

extension FrameFormat {
  /// Human-readable: `XR24 1920×1080 sRGB`, `lpcm s16le 48000 Hz 2 channels (appAudio)`.
  var text: String {
    var words = ["\(fourcc)"]
    if width > 0, height > 0 { words.append("\(width)×\(height)") }
    if colorSpace != .unspecified { words.append("\(colorSpace)") }
    if let audio {
      if fourcc == .pcm {
        words.append("\(audio.sampleFormat)" + (audio.isInterleaved ? "" : " planar"))
      }
      words.append("\(audio.sampleRate) Hz")
      words.append(audio.channelCount == 1 ? "mono" : "\(audio.channelCount) channels")
    }
    if kind != .video { words.append("(\(kind))") }
    return words.joined(separator: " ")
  }
}
