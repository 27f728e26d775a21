import Platform

/// A format of encoded pictures.
public enum VideoCodec: String, CaseIterable, Hashable, Sendable {
  case h264, vp8, vp9, h265, av1

  /// RTP's name of it.
  public var rtpName: String { rawValue.uppercased() }
}

/// An encoder: one row of the table that the choice of encoders, help, `framebus doctor`, the probe
/// of WHIP endpoints and the documentation read.
public struct EncoderKind: Hashable, Sendable {
  /// The name for `--encoder`.
  public let name: String
  public let codec: VideoCodec
  /// GStreamer's element.
  public let element: String
  /// Its plugin, `libgstNAME.so`, and the Debian package of that.
  public let plugin: String
  public let package: String
  /// The device that it needs; nil for one in software.
  public let device: Device?
  /// The presets that `NAME:PRESET` may name.
  public let presets: [String]

  /// A device that encodes.
  public enum Device: String, CaseIterable, Sendable {
    case renderNode = "/dev/dri/renderD"
    case video = "/dev/video"
    case nvidia = "/dev/nvidia"

    /// Whether this machine has one.
    public var isPresent: Bool {
      let end = rawValue.lastIndex(of: "/") ?? rawValue.startIndex
      let names = (try? Directory(path: String(rawValue[..<end])).names()) ?? []
      return names.contains { $0.hasPrefix(rawValue[end...].dropFirst()) }
    }
  }

  init(
    _ name: String, _ codec: VideoCodec, _ element: String, _ plugin: String, _ package: String,
    device: Device? = nil, presets: [String] = []
  ) {
    self.name = name
    self.codec = codec
    self.element = element
    self.plugin = plugin
    self.package = package
    self.device = device
    self.presets = presets
  }
}

private let x26xPresets = [
  "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
]
private let good = "gstreamer1.0-plugins-good"
private let bad = "gstreamer1.0-plugins-bad"

extension EncoderKind {
  /// The rows of each codec, the best first: hardware, then software by speed.
  public static let all = [
    EncoderKind("va", .h264, "vah264enc", "va", bad, device: .renderNode),
    EncoderKind(
      "vaapi", .h264, "vaapih264enc", "vaapi", "gstreamer1.0-vaapi", device: .renderNode),
    EncoderKind("v4l2", .h264, "v4l2h264enc", "video4linux2", good, device: .video),
    EncoderKind("nvenc", .h264, "nvh264enc", "nvcodec", bad, device: .nvidia),
    EncoderKind(
      "x264", .h264, "x264enc", "x264", "gstreamer1.0-plugins-ugly", presets: x26xPresets),
    EncoderKind("openh264", .h264, "openh264enc", "openh264", bad),
    EncoderKind("vp8", .vp8, "vp8enc", "vpx", good),
    EncoderKind("vp9", .vp9, "vp9enc", "vpx", good),
    EncoderKind("va-h265", .h265, "vah265enc", "va", bad, device: .renderNode),
    EncoderKind("nvenc-h265", .h265, "nvh265enc", "nvcodec", bad, device: .nvidia),
    EncoderKind("x265", .h265, "x265enc", "x265", bad, presets: x26xPresets),
    EncoderKind(
      "svtav1", .av1, "svtav1enc", "svtav1", bad + " 1.24", presets: (0...13).map(String.init)),
    EncoderKind("aom", .av1, "av1enc", "aom", bad, presets: (0...10).map(String.init)),
  ]

  /// The word for every encoder.
  public static let automatic = "auto"
  /// The texts that `--encoder` takes, without presets.
  public static let names: [String] = {
    let named = VideoCodec.allCases.map(\.rawValue) + all.map(\.name)
    return [automatic]
      + named.enumerated().filter { !named[..<$0.offset].contains($0.element) }
      .map(\.element)
  }()

  /// Why it cannot be used here; nil if it can.
  public func obstacle(hasPlugin: Bool) -> String? {
    if let device, !device.isPresent { return "no \(device.rawValue)*" }
    return hasPlugin ? nil : "needs \(package)"
  }

  /// The encoders that a text names: one, those of a codec, or all.
  public static func named(_ text: String) -> [EncoderKind] {
    text == automatic ? all : all.filter { $0.name == text || $0.codec.rawValue == text }
  }
}
