private let good = "gstreamer1.0-plugins-good"
private let bad = "gstreamer1.0-plugins-bad"
private let decoders = [
  "playback": "gstreamer1.0-plugins-base", "libav": "gstreamer1.0-libav", "videoparsersbad": bad,
  "audioparsers": good,
]

/// Streams of other machines. Their captures decode what any server sends, so that a sandbox gives
/// them the network and nothing else.
extension SourceKind {
  static let networks = [srt, rtmp, rtmps, rtsp, rtsps, whep, hls]

  private static let srt = network(
    "srt", "srt://HOST:PORT", "MPEG-TS of an SRT peer; srt://:PORT listens", secret: .passphrase,
    example: "srt://live.example.com:9000", plugins: ["srt": bad, "mpegtsdemux": bad])
  private static let rtmp = network(
    "rtmp", "rtmp://HOST/APPLICATION/STREAM", "Stream of an RTMP server", secret: .streamKey,
    example: "rtmp://live.example.com/live/cam", plugins: ["rtmp2": bad, "flv": good])
  private static let rtmps = network(
    "rtmps", "rtmps://HOST/APPLICATION/STREAM", "Stream of an RTMP server over TLS",
    secret: .streamKey, example: "rtmps://live.example.com/live/cam",
    plugins: ["rtmp2": bad, "flv": good])
  private static let rtsp = network(
    "rtsp", "rtsp://HOST/PATH", "Stream of an RTSP server, such as a network camera",
    secret: .password, example: "rtsp://camera.example.com/stream1",
    plugins: ["rtsp": good, "rtp": good, "rtpmanager": good])
  private static let rtsps = network(
    "rtsps", "rtsps://HOST/PATH", "Stream of an RTSP server over TLS", secret: .password,
    example: "rtsps://camera.example.com/stream1",
    plugins: ["rtsp": good, "rtp": good, "rtpmanager": good])

  private static let whep = network(
    "whep", "whep:https://HOST/PATH", "Stream of a WebRTC server, by WHEP", secret: .bearer,
    example: "whep:https://live.example.com/cam",
    plugins: ["webrtc": bad, "dtls": bad, "srtp": bad, "nice": "gstreamer1.0-nice"])

  private static let hls = network(
    "hls", "hls:https://HOST/PATH.m3u8", "Stream or recording of a web server, by HLS",
    options: [.size], example: "hls:https://live.example.com/index.m3u8",
    plugins: ["soup": good, "hls": bad, "mpegtsdemux": bad, "isomp4": good])

  private static func network(
    _ name: String, _ form: String, _ help: String, secret: Secret? = nil,
    options: Set<CaptureSettings.Option> = [], example: String, plugins: [String: String]
  ) -> SourceKind {
    SourceKind(
      form, help, by: mediaProgram, needs: .network,
      options: secret == nil ? options : options.union([.secret]), hasSound: true, secret: secret,
      plugins: decoders.merging(plugins) { $1 }
    ) { address throws(SourceSpecificationError) in
      form.contains(":https:")
        ? .network(try SourceAddress(ofWeb: name, address, example: example))
        : .network(try SourceAddress(name, address, example: example))
    }
  }

  /// Whether its server proves its name by a certificate.
  public var isEncrypted: Bool { ["rtmps", "rtsps", "whep", "hls"].contains(name) }

  /// The secrets that `--secret` names, such as “the passphrase of srt:, the password of rtsp: and
  /// rtsps:”.
  public static let secrets = Secret.allCases.compactMap { secret in
    let names = all.filter { $0.secret == secret }.map { "\($0.name):" }
    return names.isEmpty ? nil : "the \(secret.rawValue) of \(names.joined(separator: " and "))"
  }.joined(separator: ", ")
}
