import FrameBus

/// The first line of a YUV4MPEG2 stream (mjpegtools' yuv4mpeg(5)): size, rate, pixel layout.
public struct Y4MHeader: Hashable, Sendable {
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// 25/1 if the header has no rate.
  public var rate: FrameRate
  /// The encoding that its chroma subsampling has here.
  public var fourcc: FourCC
  /// Planes without padding, in the stream's order.
  public var planes: [Plane]
  /// Bytes of a frame.
  public var frameBytes: Int

  /// The longest line accepted; a reader rejects the stream at a longer one.
  public static let maximumLineBytes = 4096
  /// The largest frame accepted. 16384 × 16384 pixels in three full planes would be 768 MiB.
  public static let maximumFrameBytes = 512 << 20

  private static let magic = "YUV4MPEG2"

  /// - Parameter line: the stream's first line without its newline.
  public init(_ line: some Sequence<UInt8>) throws(Y4MHeaderError) {
    let fields = String(decoding: Array(line), as: UTF8.self).split(separator: " ")
    guard fields.first.map(String.init) == Self.magic else { throw .notY4M }
    var width: Int?
    var height: Int?
    var rate = FrameRate(25, 1)
    var chroma = "420jpeg"
    for field in fields.dropFirst() {
      let value = String(field.dropFirst())
      switch field.first {
      case "W": width = Int(value)
      case "H": height = Int(value)
      case "F": rate = try Self.rate(value) ?? rate
      case "C": chroma = value
      case "I": if !["p", "?"].contains(value) { throw .interlaced(value) }
      default: break  // A: pixel aspect, X: comments
      }
    }
    guard let width, let height, (1...16384).contains(width), (1...16384).contains(height)
    else { throw .badSize(width ?? 0, height ?? 0) }
    try self.init(width: width, height: height, rate: rate, chroma: chroma)
  }

  private init(
    width: Int, height: Int, rate: FrameRate, chroma: String
  ) throws(Y4MHeaderError) {
    let sizes: [(width: Int, height: Int)]
    let halfWidth = (width + 1) / 2
    switch chroma {
    case "420", "420jpeg", "420mpeg2", "420paldv":
      fourcc = .yuv420
      let half = (halfWidth, (height + 1) / 2)
      sizes = [(width, height), half, half]
    case "422":
      fourcc = .yuv422
      sizes = [(width, height), (halfWidth, height), (halfWidth, height)]
    case "444":
      fourcc = .yuv444
      sizes = [(width, height), (width, height), (width, height)]
    case "mono":
      fourcc = .r8
      sizes = [(width, height)]
    default: throw .unsupportedChroma(chroma)
    }
    self.width = width
    self.height = height
    self.rate = rate
    planes = []
    frameBytes = 0
    for size in sizes {
      planes.append(Plane(offset: frameBytes, stride: size.width))
      frameBytes += size.width * size.height
    }
    guard frameBytes <= Self.maximumFrameBytes else { throw .badSize(width, height) }
  }

  /// `30000:1001`; nil for the unknown rate `0:0`.
  private static func rate(_ text: String) throws(Y4MHeaderError) -> FrameRate? {
    let parts = text.split(separator: ":").map { Int($0) }
    guard parts.count == 2, let numerator = parts[0], let denominator = parts[1],
      (0...1_000_000_000).contains(numerator), (0...1_000_000_000).contains(denominator)
    else { throw .badRate(text) }
    guard numerator > 0, denominator > 0 else { return nil }
    return FrameRate(numerator, denominator)
  }
}

/// Why a first line does not begin a stream that can be published.
public enum Y4MHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line does not begin with `YUV4MPEG2`.
  case notY4M
  /// The size is missing or too large.
  case badSize(Int, Int)
  /// The rate is not a fraction.
  case badRate(String)
  /// The pictures are interlaced.
  case interlaced(String)
  /// The chroma subsampling has no encoding here.
  case unsupportedChroma(String)

  public var description: String {
    switch self {
    case .notY4M:
      "this is not a YUV4MPEG2 stream: it does not begin with 'YUV4MPEG2'; "
        + "make one with `ffmpeg -i FILE -pix_fmt yuv420p -f yuv4mpegpipe -`"
    case .badSize(let width, let height):
      "the y4m header gives the size \(width)x\(height); sides from 1 to 16384 and frames up to "
        + "\(Y4MHeader.maximumFrameBytes >> 20) MiB are possible"
    case .badRate(let text):
      "the y4m header gives the frame rate “\(text.prefix(40))”; it should look like F30:1"
    case .interlaced(let mode):
      "the y4m stream is interlaced (I\(mode.prefix(8))); only progressive frames can be "
        + "published: deinterlace first, as with `ffmpeg -vf yadif`"
    case .unsupportedChroma(let name):
      "the y4m stream has the chroma format C\(name.prefix(40)); 420, 422, 444 and mono with "
        + "8 bits are possible: convert with `ffmpeg -pix_fmt yuv420p`"
    }
  }
}
