#if Media
  import Platform
  import Upload

  /// An RTMP server, which receives a stream in the FLV container.
  final class RTMPOutlet: Outlet {
    static let kinds = [DestinationKind.rtmp, .rtmps]
    static let reconnects = true

    let output: String
    let soundEncoders = [SoundEncoder.aac]
    private let location: String
    /// Texts that no message may show.
    private let keys: [String]

    /// The secret is the stream key, which most servers expect at the end of the address.
    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      let address = try PublicAddress(named)
      output = address.shown
      keys = address.keys + (setup.secret.map { [$0] } ?? [])
      location = setup.secret.map { "\(address.text)/\($0)" } ?? address.text
      let names = address.path.prefix { $0 != "?" }.split(separator: "/")
      // The stream may be the secret.
      guard names.count >= (setup.secret == nil ? 2 : 1) else {
        throw .malformed(named.description)
      }
    }

    var elements: [ElementDescription] {
      [
        ElementDescription(
          factory: "flvmux", package: "gstreamer1.0-plugins-good",
          properties: [.init("streamable", "true")], soundPad: "audio"),
        ElementDescription(
          factory: "rtmp2sink", package: "gstreamer1.0-plugins-bad",
          properties: [.init("location", location), .init("sync", "false")]),
      ]
    }

    func prepare() throws(DestinationError) {}

    /// Removes the keys: servers name the stream that they refuse, and a key is part of the name.
    func redacted(_ message: String) -> String { message.without(keys) }
  }
#endif
