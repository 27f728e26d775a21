import Platform

/// A kind of destination: one row of the table that parsing, help, the manifest and sandbox of the
/// built-in extension, `framebus doctor`, the log and the documentation read.
///
/// A row says how users name the destination; a `DestinationMaker` of the same row makes it.
public struct DestinationKind: Hashable, Sendable {
  /// The word before the first colon.
  public let scheme: String
  /// How a user writes it, such as `file:PATH.mkv`.
  public let forms: [String]
  /// What it is, in at most 60 characters.
  public let help: String
  /// What a sandboxed uploader needs for it.
  public let needs: Needs
  /// The secret that its server expects.
  public let secret: Secret?
  /// GStreamer's plugins, `libgstNAME.so`, by name, with the Debian package of each.
  public let plugins: [String: String]

  public enum Needs: String, Sendable {
    case nothing
    /// Its address is a file, which it writes.
    case file
    /// Its address is a directory, in which it writes.
    case directory
    case network
    /// A connection to PipeWire that can add a node and do nothing else; or its address is a
    /// device, which it writes.
    case camera = "a connection to PipeWire for one camera; or the device"
    /// It writes in the group's own directories, as every role may.
    case group
  }

  /// A kind with a secret may have keys in its address as well, so messages and logs shorten it.
  public enum Secret: String, CaseIterable, Sendable {
    case bearer, passphrase
    case streamKey = "stream key"

    /// The option of `framebus upload` that names its credential.
    public var option: String { self == .bearer ? "credential" : "secret" }
  }

  init(
    _ scheme: String, _ forms: [String], _ help: String, needs: Needs, secret: Secret? = nil,
    plugins: [String: String] = [:]
  ) {
    self.scheme = scheme
    self.forms = forms
    self.help = help
    self.needs = needs
    self.secret = secret
    self.plugins = plugins
  }

  public var takesAddress: Bool { needs != .nothing }
}

private let good = "gstreamer1.0-plugins-good"
private let bad = "gstreamer1.0-plugins-bad"
private let transportStream = [
  "mpegtsmux": bad, "videoparsersbad": bad, "libav": "gstreamer1.0-libav",
]

extension DestinationKind {
  public static let file = DestinationKind(
    "file", ["file:PATH.mkv", "file:PATH.mp4"], "File that is playable however its writer ends",
    needs: .file, plugins: ["matroska": good, "isomp4": good])
  public static let png = DestinationKind(
    "png", ["png:PATH.png"], "One frame as a picture", needs: .file, plugins: ["png": good])
  public static let whip = DestinationKind(
    "whip", ["whip:https://HOST/PATH"], "Live over WebRTC; reconnects", needs: .network,
    secret: .bearer,
    plugins: ["webrtc": bad, "dtls": bad, "srtp": bad, "nice": "gstreamer1.0-nice"])
  public static let srt = DestinationKind(
    "srt", ["srt://HOST:PORT"], "MPEG-TS to an SRT listener; reconnects", needs: .network,
    secret: .passphrase, plugins: transportStream.merging(["srt": bad]) { $1 })
  public static let rtmp = DestinationKind(
    "rtmp", ["rtmp://HOST/APPLICATION/STREAM"], "FLV to an RTMP server; reconnects",
    needs: .network, secret: .streamKey,
    plugins: ["flv": good, "rtmp2": bad, "libav": "gstreamer1.0-libav"])
  public static let rtmps = DestinationKind(
    "rtmps", ["rtmps://HOST/APPLICATION/STREAM"], "FLV to an RTMP server over TLS; reconnects",
    needs: .network, secret: .streamKey, plugins: rtmp.plugins)
  public static let hls = DestinationKind(
    "hls",
    ["hls:DIRECTORY[?small=HEIGHT]", "hls:DIRECTORY?segments=ts", "hls:DIRECTORY?sound=aac"],
    "index.m3u8 and the newest segments, for a web server", needs: .directory,
    plugins: transportStream)
  public static let udp = DestinationKind(
    "udp", ["udp:HOST:PORT[?ttl=N]"], "MPEG-TS in datagrams to a host or a multicast group",
    needs: .network, plugins: transportStream.merging(["udp": good]) { $1 })
  public static let replay = DestinationKind(
    "replay", ["replay:60s"], "The last seconds, in memory, for `framebus replay save`",
    needs: .group,
    plugins: [
      "coreelements": "libgstreamer1.0-0", "videoparsersbad": bad, "libav": "gstreamer1.0-libav",
    ])
  public static let camera = DestinationKind(
    "camera", ["camera:NAME", "camera:/dev/videoN"],
    "A camera for browsers: PipeWire's, or of v4l2loopback", needs: .camera)
  public static let null = DestinationKind(
    "null", ["null"], "Counts frames and discards them", needs: .nothing)

  /// The rows; a build without media makes only `null`.
  public static let all: [DestinationKind] = [
    file, png, whip, srt, rtmp, rtmps, hls, udp, replay, camera, null,
  ]

  /// A destination as a user named it, without what may be a secret.
  package static func shown(_ text: String) -> String {
    isPublic(text) ? text : text.withoutSecrets
  }

  /// Whether the text names a destination that contains no secret.
  package static func isPublic(_ text: String) -> Bool {
    all.contains { kind in
      text == kind.scheme || kind.secret == nil && kind.scheme == text.prefix { $0 != ":" }
    }
  }

  /// A list of the secrets that an option names, or of all, such as “the stream key of rtmp: and
  /// rtmps:”.
  public static func secrets(of option: String? = nil) -> String {
    Secret.allCases.compactMap { secret in
      let schemes = all.filter { $0.secret == secret }.map { "\($0.scheme):" }
      guard option == nil || secret.option == option, !schemes.isEmpty else { return nil }
      return "the \(secret.rawValue) of \(schemes.joined(separator: " and "))"
    }.joined(separator: ", ")
  }
}
