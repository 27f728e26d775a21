import CFrameLayout

/// The offset of one plane of a picture in the frame's bytes, and the stride of its rows.
public struct Plane: Hashable, Sendable {
  /// Bytes from the frame's beginning to the first row.
  public var offset: Int
  /// Bytes from one row to the next.
  public var stride: Int

  /// A plane at an offset, with a stride, both in bytes.
  public init(offset: Int, stride: Int) {
    self.offset = offset
    self.stride = stride
  }
}

/// Frames per second as a fraction; 0/1 if frames are published only on changes.
public struct FrameRate: Hashable, Sendable {
  /// Frames in `denominator` seconds.
  public var numerator: Int
  /// Seconds for `numerator` frames.
  public var denominator: Int

  /// A rate such as 30, or 30000 in 1001 seconds.
  public init(_ numerator: Int, _ denominator: Int = 1) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// Frames are published only on changes.
  public static let variable = FrameRate(0, 1)
}

/// The format of a stream's frames. It can change while subscribers stay attached.
public struct FrameFormat: Hashable, Sendable {
  /// The purpose of a stream; `fourcc` is its encoding.
  public enum Kind: UInt32, Hashable, Sendable {
    /// Pictures, raw or encoded.
    case video = 1
    /// Sound of applications.
    case appAudio
    /// Sound of a microphone.
    case micAudio
    /// Bytes of any other kind.
    case data

    package var isSound: Bool { self == .appAudio || self == .micAudio }
  }

  /// The purpose of the stream.
  public let kind: Kind
  /// The encoding.
  public let fourcc: FourCC
  /// Width in pixels; 0 unless the frame is a picture.
  public let width: Int
  /// Height in pixels; 0 unless the frame is a picture.
  public let height: Int
  /// 1…4 planes for raw pictures; empty for everything else.
  public let planes: [Plane]
  /// Bytes of a raw picture; the maximum number of bytes for all other frames.
  public let byteCount: Int
  /// The intended rate; frames carry their own times.
  public let frameRate: FrameRate
  /// What the numbers of a picture mean as colours.
  public let colorSpace: ColorSpace
  /// The layout of raw sound, or the format that encoded sound decodes to; nil without sound.
  public let audio: AudioFormat?

  /// The largest width and height: coordinates are sent as 16-bit numbers.
  public static let maximumSide = 65_535
  /// The largest frame.
  public static let maximumByteCount = 1 << 32 - 1

  /// A format with a custom layout. Use the factories below for the usual ones.
  public init(
    kind: Kind, fourcc: FourCC, width: Int, height: Int, planes: [Plane], byteCount: Int,
    frameRate: FrameRate = .variable, colorSpace: ColorSpace = .unspecified,
    audio: AudioFormat? = nil
  ) throws(FrameFormatError) {
    self.kind = kind
    self.fourcc = fourcc
    self.width = width
    self.height = height
    self.planes = planes
    self.byteCount = byteCount
    self.frameRate = frameRate
    self.colorSpace = colorSpace
    self.audio = audio
    try check()
  }

  /// A raw picture in GStreamer's layout: the rows of each plane padded to 4 bytes, the planes one
  /// after the other.
  public static func video(
    _ fourcc: FourCC, width: Int, height: Int, frameRate: FrameRate = .variable,
    colorSpace: ColorSpace = .unspecified
  ) throws(FrameFormatError) -> FrameFormat {
    guard (1...maximumSide).contains(width), (1...maximumSide).contains(height) else {
      throw .wrongSize(width: width, height: height)
    }
    let shapes = fourcc.planeShapes
    guard !shapes.isEmpty else { throw .unknownLayout(fourcc) }
    // GStreamer rounds the luma rows up to even before halving.
    let isHalved = shapes.contains { $0.rows == 2 }
    let storedHeight = isHalved ? (height + 1) & ~1 : height
    var planes: [Plane] = []
    var offset = 0
    for shape in shapes {
      let stride = (shape.rowBytes(width: width) + 3) & ~3
      planes.append(Plane(offset: offset, stride: stride))
      offset += stride * shape.rowCount(height: storedHeight)
    }
    return try FrameFormat(
      kind: .video, fourcc: fourcc, width: width, height: height, planes: planes,
      byteCount: offset, frameRate: frameRate, colorSpace: colorSpace)
  }

  /// Raw sound, in frames of up to `maximumSampleFrameCount`.
  /// - Parameter kind: `appAudio` or `micAudio`.
  public static func audio(
    _ kind: Kind, _ audio: AudioFormat, maximumSampleFrameCount: Int
  ) throws(FrameFormatError) -> FrameFormat {
    let bytes = audio.sampleFrameBytes.multipliedReportingOverflow(by: maximumSampleFrameCount)
    return try FrameFormat(
      kind: kind, fourcc: .pcm, width: 0, height: 0, planes: [],
      byteCount: bytes.overflow ? .max : bytes.partialValue, audio: audio)
  }

  /// Encoded pictures or sound, or other data, in frames that differ in size.
  /// - Parameters:
  ///   - codec: such as `.h264` or `.opus`; for other data, any code that the subscribers know.
  ///   - width: of the decoded picture; 0 unless it is a picture. `height` likewise.
  ///   - audio: the format of the decoded sound.
  public static func encoded(
    _ codec: FourCC, as kind: Kind, maximumByteCount: Int, width: Int = 0, height: Int = 0,
    frameRate: FrameRate = .variable, colorSpace: ColorSpace = .unspecified,
    audio: AudioFormat? = nil
  ) throws(FrameFormatError) -> FrameFormat {
    try FrameFormat(
      kind: kind, fourcc: codec, width: width, height: height, planes: [],
      byteCount: maximumByteCount, frameRate: frameRate, colorSpace: colorSpace, audio: audio)
  }

  /// The valid payload sizes of this format.
  var payloadRule: PayloadRule {
    if !planes.isEmpty { return PayloadRule(least: UInt64(byteCount), most: .max) }
    let unit = fourcc == .pcm ? audio?.sampleFrameBytes ?? 1 : 1
    return PayloadRule(least: 0, most: UInt64(byteCount), unit: UInt64(unit))
  }
}

/// The valid payload sizes of a frame.
struct PayloadRule {
  var least: UInt64
  var most: UInt64
  var unit: UInt64 = 1

  /// Admits nothing.
  static let none = PayloadRule(least: 1, most: 0)

  func admits(_ byteCount: UInt64) -> Bool {
    least <= byteCount && byteCount <= most && (unit == 1 || byteCount.isMultiple(of: unit))
  }
}

// MARK: - Rules for every format, local or from another process

extension FrameFormat {
  private func check() throws(FrameFormatError) {
    guard (1...Self.maximumByteCount).contains(byteCount) else {
      throw .wrongByteCount(byteCount)
    }
    let sides = 0...Self.maximumSide
    guard sides.contains(width), sides.contains(height),
      (0...Int(UInt32.max)).contains(frameRate.numerator),
      (1...Int(UInt32.max)).contains(frameRate.denominator)
    else { throw .wrongSize(width: width, height: height) }
    try checkAudio()
    try checkPlanes()
  }

  private func checkAudio() throws(FrameFormatError) {
    let isRaw = fourcc == .pcm
    guard isRaw ? kind != .video && audio != nil : kind != .video || audio == nil else {
      throw .wrongKind(kind, fourcc)
    }
    if isRaw, let audio, !byteCount.isMultiple(of: audio.sampleFrameBytes) {
      throw .wrongByteCount(byteCount)
    }
  }

  /// Planes lie inside the bytes: up to the last sample if the layout is known, and with at least
  /// one row otherwise. Raw video has all planes.
  private func checkPlanes() throws(FrameFormatError) {
    let shapes = fourcc.planeShapes
    let isRawVideo = kind == .video && !shapes.isEmpty
    guard planes.count <= Int(FB_MAXIMUM_PLANES), planes.isEmpty || kind == .video,
      shapes.isEmpty || planes.count == (isRawVideo ? shapes.count : 0)
    else { throw .wrongPlane(planes.count) }
    guard planes.isEmpty || width > 0 && height > 0 else {
      throw .wrongSize(width: width, height: height)
    }
    for (index, plane) in planes.enumerated() {
      let limit = Int(UInt32.max)
      guard (0...limit).contains(plane.offset), (1...limit).contains(plane.stride) else {
        throw .wrongPlane(index)
      }
      var end = plane.offset + plane.stride
      if isRawVideo {
        let rowBytes = shapes[index].rowBytes(width: width)
        guard plane.stride >= rowBytes else { throw .wrongPlane(index) }
        let rows = shapes[index].rowCount(height: height)
        end = plane.offset + plane.stride * (rows - 1) + rowBytes
      }
      guard end <= byteCount else { throw .wrongPlane(index) }
    }
  }
}

/// Why a format is impossible.
public enum FrameFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A side is outside 1…65535.
  case wrongSize(width: Int, height: Int)
  /// A raw picture of this encoding needs its planes stated.
  case unknownLayout(FourCC)
  /// The number of bytes is outside its range, or no whole number of sample frames.
  case wrongByteCount(Int)
  /// The plane with this index is not inside the frame.
  case wrongPlane(Int)
  /// Rate, channels or positions of sound are outside their ranges.
  case wrongSound(sampleRate: Int, channelCount: Int)
  /// Kind, encoding and sound do not fit together.
  case wrongKind(FrameFormat.Kind, FourCC)

  public var description: String {
    switch self {
    case .wrongSize(let width, let height):
      "a picture of \(width)×\(height) is not possible; sides are 1 to \(FrameFormat.maximumSide)"
    case .unknownLayout(let fourcc):
      "the layout of “\(fourcc)” is unknown; give the planes with FrameFormat(kind:…)"
    case .wrongByteCount(let count):
      "a frame of \(count) bytes is not possible; frames have 1 to "
        + "\(FrameFormat.maximumByteCount), and raw sound whole sample frames"
    case .wrongPlane(let index):
      "plane \(index) lies outside the frame; check offset, stride and byteCount"
    case .wrongSound(let sampleRate, let channelCount):
      "sound of \(channelCount) channels at \(sampleRate) Hz is not possible; use 1 to "
        + "\(AudioFormat.maximumChannelCount) channels, and at most one position for each"
    case .wrongKind(let kind, let fourcc):
      "a stream of kind \(kind) cannot be “\(fourcc)” with this AudioFormat; raw sound "
        + "(“\(FourCC.pcm)”) needs one, and pictures have none"
    }
  }
}
