import CFrameLayout

/// Where one plane of a picture begins in the frame's bytes, and how far its rows are apart.
public struct Plane: Hashable, Sendable {
  public var offset: Int
  public var stride: Int

  public init(offset: Int, stride: Int) {
    self.offset = offset
    self.stride = stride
  }
}

/// Frames per second as a fraction; 0/1 where frames come when something changes.
public struct FrameRate: Hashable, Sendable {
  public var numerator: Int
  public var denominator: Int

  public init(_ numerator: Int, _ denominator: Int = 1) {
    self.numerator = numerator
    self.denominator = denominator
  }

  public static let variable = FrameRate(0, 1)
}

public enum ColorSpace: UInt32, Hashable, Sendable {
  case unspecified, sRGB, bt601, bt709
}

/// What the bytes of a stream's frames mean. Changes mid-stream without reconnecting.
public struct FrameFormat: Hashable, Sendable {
  public enum Kind: UInt32, Hashable, Sendable {
    case video = 1
    case appAudio, micAudio, data
  }

  public let kind: Kind
  public let fourcc: FourCC
  /// Pixels; 0 for what is no picture.
  public let width: Int
  public let height: Int
  /// 1…4 for raw pictures; none for everything else.
  public let planes: [Plane]
  /// Bytes of a whole frame; the most there can be where frames differ in size.
  public let byteCount: Int
  public let frameRate: FrameRate
  public let colorSpace: ColorSpace

  /// The largest width and height: coordinates travel as 16-bit numbers.
  public static let maximumSide = 65_535
  public static let maximumByteCount = 1 << 32 - 1

  public init(
    kind: Kind, fourcc: FourCC, width: Int, height: Int, planes: [Plane], byteCount: Int,
    frameRate: FrameRate = .variable, colorSpace: ColorSpace = .unspecified
  ) throws(FrameFormatError) {
    self.kind = kind
    self.fourcc = fourcc
    self.width = width
    self.height = height
    self.planes = planes
    self.byteCount = byteCount
    self.frameRate = frameRate
    self.colorSpace = colorSpace
    try check()
  }

  /// A raw picture with the rows of each plane padded to 4 bytes and its planes one after the
  /// other, as GStreamer lays them out.
  public static func video(
    _ fourcc: FourCC, width: Int, height: Int, frameRate: FrameRate = .variable,
    colorSpace: ColorSpace = .unspecified
  ) throws(FrameFormatError) -> FrameFormat {
    guard (1...maximumSide).contains(width), (1...maximumSide).contains(height) else {
      throw .wrongSize(width: width, height: height)
    }
    let shapes = fourcc.planeShapes
    guard !shapes.isEmpty else { throw .unknownLayout(fourcc) }
    var planes: [Plane] = []
    var offset = 0
    for shape in shapes {
      let rowBytes = (width + shape.columns - 1) / shape.columns * shape.bytes
      let stride = (rowBytes + 3) & ~3
      planes.append(Plane(offset: offset, stride: stride))
      // GStreamer rounds the luma rows up to even before halving.
      let rows = (height + shape.rows - 1) / shape.rows
      let isHalved = shapes.contains { $0.rows == 2 }
      let storedRows = isHalved && shape.rows == 1 ? (height + 1) & ~1 : rows
      offset += stride * storedRows
    }
    return try FrameFormat(
      kind: .video, fourcc: fourcc, width: width, height: height, planes: planes,
      byteCount: offset, frameRate: frameRate, colorSpace: colorSpace)
  }

  /// What holds for every format, whoever made it: sizes in range, known planes inside the bytes.
  private func check() throws(FrameFormatError) {
    guard (1...Self.maximumByteCount).contains(byteCount) else {
      throw .wrongByteCount(byteCount)
    }
    let sides = 0...Self.maximumSide
    guard sides.contains(width), sides.contains(height),
      (0...Int(UInt32.max)).contains(frameRate.numerator),
      (1...Int(UInt32.max)).contains(frameRate.denominator),
      planes.count <= Int(FB_MAXIMUM_PLANES)
    else { throw .wrongSize(width: width, height: height) }
    let shapes = fourcc.planeShapes
    guard planes.isEmpty || shapes.isEmpty || planes.count == shapes.count else {
      throw .wrongPlane(planes.count)
    }
    for (index, plane) in planes.enumerated() {
      let words = 0...Int(UInt32.max)
      guard words.contains(plane.offset), words.contains(plane.stride) else {
        throw .wrongPlane(index)
      }
      var end = plane.offset
      if index < shapes.count, width > 0, height > 0 {
        let shape = shapes[index]
        let rowBytes = (width + shape.columns - 1) / shape.columns * shape.bytes
        let rows = (height + shape.rows - 1) / shape.rows
        guard plane.stride >= rowBytes else { throw .wrongPlane(index) }
        end += plane.stride * (rows - 1) + rowBytes
      }
      guard end <= byteCount else { throw .wrongPlane(index) }
    }
  }
}

extension FrameFormat {
  /// The record on the board.
  package func record(epoch: UInt64) -> fb_format {
    var record = fb_format()
    record.epoch = epoch
    record.kind = kind.rawValue
    record.fourcc = fourcc.rawValue
    record.width = UInt32(width)
    record.height = UInt32(height)
    record.byte_count = UInt64(byteCount)
    record.plane_count = UInt32(planes.count)
    record.color_space = colorSpace.rawValue
    record.rate_numerator = UInt32(frameRate.numerator)
    record.rate_denominator = UInt32(frameRate.denominator)
    func offset(_ index: Int) -> UInt32 { index < planes.count ? UInt32(planes[index].offset) : 0 }
    func stride(_ index: Int) -> UInt32 { index < planes.count ? UInt32(planes[index].stride) : 0 }
    record.plane_offsets = (offset(0), offset(1), offset(2), offset(3))
    record.plane_strides = (stride(0), stride(1), stride(2), stride(3))
    return record
  }

  /// A format from another process's record, or nil if it breaks a rule.
  package init?(_ record: fb_format) {
    guard let kind = Kind(rawValue: record.kind),
      record.plane_count <= UInt32(FB_MAXIMUM_PLANES),
      record.byte_count <= UInt64(Self.maximumByteCount)
    else { return nil }
    let (offsets, strides) = (record.plane_offsets, record.plane_strides)
    let planes = [
      Plane(offset: Int(offsets.0), stride: Int(strides.0)),
      Plane(offset: Int(offsets.1), stride: Int(strides.1)),
      Plane(offset: Int(offsets.2), stride: Int(strides.2)),
      Plane(offset: Int(offsets.3), stride: Int(strides.3)),
    ].prefix(Int(record.plane_count))
    try? self.init(
      kind: kind, fourcc: FourCC(rawValue: record.fourcc), width: Int(record.width),
      height: Int(record.height), planes: Array(planes), byteCount: Int(record.byte_count),
      frameRate: FrameRate(Int(record.rate_numerator), Int(record.rate_denominator)),
      colorSpace: ColorSpace(rawValue: record.color_space) ?? .unspecified)
  }
}

public enum FrameFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  case wrongSize(width: Int, height: Int)
  case unknownLayout(FourCC)
  case wrongByteCount(Int)
  case wrongPlane(Int)

  public var description: String {
    switch self {
    case .wrongSize(let width, let height):
      "a picture of \(width)×\(height) is not possible; sides are 1 to \(FrameFormat.maximumSide)"
    case .unknownLayout(let fourcc):
      "the layout of “\(fourcc)” is not known; give the planes with FrameFormat(kind:…)"
    case .wrongByteCount(let count):
      "a frame of \(count) bytes is not possible; frames have 1 to \(FrameFormat.maximumByteCount)"
    case .wrongPlane(let index):
      "plane \(index) does not lie inside the frame; check offset, stride and byteCount"
    }
  }
}
