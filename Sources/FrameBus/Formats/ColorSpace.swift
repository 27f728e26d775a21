/// A colour space in the code points of ITU-T H.273 (ISO/IEC 23091-2), which H.264, HEVC, AV1, MP4
/// and PNG use too. Code points without a name here are passed on unchanged.
public struct ColorSpace: Hashable, Sendable {
  /// Colour primaries and white point (H.273, table 2).
  public struct Primaries: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709, and sRGB.
    public static let bt709 = Primaries(rawValue: 1)
    /// Not stated.
    public static let unspecified = Primaries(rawValue: 2)
    /// BT.601 with 625 lines, PAL.
    public static let bt470bg = Primaries(rawValue: 5)
    /// BT.601 with 525 lines, NTSC.
    public static let smpte170m = Primaries(rawValue: 6)
    /// BT.2020 and BT.2100.
    public static let bt2020 = Primaries(rawValue: 9)
    /// Display P3, with D65 as its white.
    public static let displayP3 = Primaries(rawValue: 12)
  }

  /// Transfer characteristics (H.273, table 3).
  public struct Transfer: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// BT.709.
    public static let bt709 = Transfer(rawValue: 1)
    /// Not stated.
    public static let unspecified = Transfer(rawValue: 2)
    /// BT.601.
    public static let smpte170m = Transfer(rawValue: 6)
    /// Light itself.
    public static let linear = Transfer(rawValue: 8)
    /// IEC 61966-2-1.
    public static let sRGB = Transfer(rawValue: 13)
    /// SMPTE ST 2084.
    public static let pq = Transfer(rawValue: 16)
    /// ARIB STD-B67.
    public static let hlg = Transfer(rawValue: 18)
  }

  /// Matrix coefficients, from RGB to luma and chroma (H.273, table 4).
  public struct Matrix: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No matrix: the picture is RGB.
    public static let identity = Matrix(rawValue: 0)
    /// BT.709.
    public static let bt709 = Matrix(rawValue: 1)
    /// Not stated.
    public static let unspecified = Matrix(rawValue: 2)
    /// BT.601 with 625 lines.
    public static let bt470bg = Matrix(rawValue: 5)
    /// BT.601 with 525 lines.
    public static let smpte170m = Matrix(rawValue: 6)
    /// BT.2020 with non-constant luminance.
    public static let bt2020 = Matrix(rawValue: 9)
  }

  /// Which numbers stand for black and white.
  public enum Range: UInt8, Hashable, Sendable {
    /// Not stated.
    case unspecified
    /// 16 to 235 for 8-bit luma, to 240 for chroma.
    case limited
    /// All values.
    case full
  }

  /// What red, green and blue are.
  public var primaries: Primaries
  /// How numbers grow with light.
  public var transfer: Transfer
  /// How luma and chroma are made from red, green and blue.
  public var matrix: Matrix
  /// Which numbers stand for black and white.
  public var range: Range

  /// A colour space of four code points.
  public init(primaries: Primaries, transfer: Transfer, matrix: Matrix, range: Range) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
    self.range = range
  }

  /// Nothing is stated.
  public static let unspecified = ColorSpace(
    primaries: .unspecified, transfer: .unspecified, matrix: .unspecified, range: .unspecified)
  /// Computer graphics: RGB.
  public static let sRGB = ColorSpace(
    primaries: .bt709, transfer: .sRGB, matrix: .identity, range: .full)
  /// Standard-definition video, with the primaries of 525 lines.
  public static let bt601 = ColorSpace(
    primaries: .smpte170m, transfer: .smpte170m, matrix: .smpte170m, range: .limited)
  /// High-definition video.
  public static let bt709 = ColorSpace(
    primaries: .bt709, transfer: .bt709, matrix: .bt709, range: .limited)
  /// JPEG files and most cameras: sRGB with the matrix of BT.601.
  public static let jpeg = ColorSpace(
    primaries: .bt709, transfer: .sRGB, matrix: .smpte170m, range: .full)
  /// High dynamic range with absolute brightness, HDR10.
  public static let bt2100PQ = ColorSpace(
    primaries: .bt2020, transfer: .pq, matrix: .bt2020, range: .limited)
  /// High dynamic range that older screens can show.
  public static let bt2100HLG = ColorSpace(
    primaries: .bt2020, transfer: .hlg, matrix: .bt2020, range: .limited)
}

extension ColorSpace {
  /// One byte each, from the lowest: primaries, transfer, matrix, range.
  var packed: UInt32 {
    UInt32(primaries.rawValue) | UInt32(transfer.rawValue) << 8 | UInt32(matrix.rawValue) << 16
      | UInt32(range.rawValue) << 24
  }

  /// 0 and invalid ranges are unspecified.
  init(packed: UInt32) {
    func byte(_ index: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: packed >> (8 * index)) }
    self.init(
      primaries: Primaries(rawValue: byte(0)), transfer: Transfer(rawValue: byte(1)),
      matrix: Matrix(rawValue: byte(2)), range: Range(rawValue: byte(3)) ?? .unspecified)
    if packed == 0 { self = .unspecified }
  }
}

extension ColorSpace: CustomStringConvertible {
  /// The name, if there is one; otherwise the numbers primaries/transfer/matrix and the range, such
  /// as `1/13/6 full`.
  public var description: String {
    let named: [(ColorSpace, String)] = [
      (.unspecified, "unspecified"), (.sRGB, "sRGB"), (.bt601, "bt601"), (.bt709, "bt709"),
      (.jpeg, "jpeg"), (.bt2100PQ, "bt2100-pq"), (.bt2100HLG, "bt2100-hlg"),
    ]
    if let name = named.first(where: { $0.0 == self })?.1 { return name }
    let points = "\(primaries.rawValue)/\(transfer.rawValue)/\(matrix.rawValue)"
    return range == .unspecified ? points : "\(points) \(range)"
  }
}
