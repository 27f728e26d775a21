/// The encoding of a frame's bytes as a four-character code: for raw pictures the DRM code of the
/// pixel format (`drm_fourcc.h` of the Linux kernel), for everything else the code of a codec.
public struct FourCC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Returns nil unless `code` has four ASCII characters.
  public init?(_ code: String) {
    let bytes = Array(code.utf8)
    guard bytes.count == 4, bytes.allSatisfy(Self.printable.contains) else { return nil }
    rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  init(_ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar) {
    rawValue = a.value | b.value << 8 | c.value << 16 | d.value << 24
  }

  private static let printable: ClosedRange<UInt8> = 0x20...0x7e

  /// The four characters, or the number if they are not all printable; another process may have
  /// chosen them.
  public var description: String {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }
    guard bytes.allSatisfy(Self.printable.contains) else {
      return "0x" + String(rawValue, radix: 16)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Encodings other than raw pictures: V4L2's codes for video, those of MP4 files for sound.
extension FourCC {
  /// Raw sound; `AudioFormat` describes its layout.
  public static let pcm = FourCC("l", "p", "c", "m")

  /// H.264, by ITU-T.
  public static let h264 = FourCC("H", "2", "6", "4")
  /// H.265.
  public static let hevc = FourCC("H", "E", "V", "C")
  /// VP8.
  public static let vp8 = FourCC("V", "P", "8", "0")
  /// VP9.
  public static let vp9 = FourCC("V", "P", "9", "0")
  /// AV1.
  public static let av1 = FourCC("A", "V", "0", "1")
  /// Motion JPEG.
  public static let mjpeg = FourCC("M", "J", "P", "G")

  /// Opus, RFC 6716.
  public static let opus = FourCC("O", "p", "u", "s")
  /// AAC.
  public static let aac = FourCC("m", "p", "4", "a")
  /// FLAC, without loss.
  public static let flac = FourCC("f", "L", "a", "C")
}
