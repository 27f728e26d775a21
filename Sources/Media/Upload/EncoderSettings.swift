/// The user's encoder settings; each encoder has its own defaults for those left open.
public struct EncoderSettings: Hashable, Sendable {
  /// The encoder's name and, after a colon, its preset. Nil for the destination's default.
  public var name: String?
  public var preset: String?
  /// Nil to derive it from the frame size.
  public var bitsPerSecond: Int?

  public init() {}

  /// - Parameters:
  ///   - encoder: `NAME` or `NAME:PRESET`.
  ///   - bitrate: bits per second, with an optional `k` or `M`.
  public init(encoder: String?, bitrate: String?) throws(DestinationError) {
    if let encoder {
      let parts = encoder.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      name = String(parts[0])
      preset = parts.count > 1 ? String(parts[1]) : nil
    }
    if let bitrate { bitsPerSecond = try Self.bitsPerSecond(bitrate) }
  }

  /// - Parameter text: bits per second, with an optional `k` or `M`.
  package static func bitsPerSecond(_ text: String) throws(DestinationError) -> Int {
    let factor = text.hasSuffix("k") ? 1_000 : text.hasSuffix("M") ? 1_000_000 : 1
    let digits = factor == 1 ? text[...] : text.dropLast()
    guard let number = Double(digits), number.isFinite,
      (1_000...1e9).contains(number * Double(factor))
    else { throw .malformedBitrate(text) }
    return Int(number * Double(factor))
  }

  /// The keys under which a host stores default settings for its extension in the group's
  /// settings: texts as ``init(encoder:bitrate:)`` takes them.
  package enum Keys {
    package static let encoder = "uploadEncoder"
    package static let bitrate = "uploadBitrate"
  }

  /// The requested bitrate, or one at which a screen of this size stays legible: 3 bits per second
  /// and pixel, 6 Mbit/s at 1080p.
  public func bitsPerSecond(width: Int, height: Int) -> Int {
    bitsPerSecond ?? max(500_000, width * height * 3)
  }
}
