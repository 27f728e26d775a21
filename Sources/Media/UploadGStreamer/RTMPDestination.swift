#if Media
  import Upload

  /// An RTMP server, which receives a stream in the FLV container.
  final class RTMPOutlet: Outlet {
    let output: String
    let soundEncoder = SoundEncoder.aac
    private let location: String
    /// Texts that no message may show.
    private let keys: [String]

    /// - Parameter key: the secret stream key, which most servers expect at the end of the address.
    init(_ address: PublicAddress, key: String?) {
      output = address.shown
      keys = address.keys + (key.map { [$0] } ?? [])
      location = key.map { "\(address.text)/\($0)" } ?? address.text
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

  /// `rtmp://HOST/APPLICATION/STREAM`
  public struct RTMPDestinationMaker: DestinationMaker {
    package static let schemes = ["rtmp", "rtmps"]

    public let scheme: String
    public let forms: [String]
    private let key: String?
    private let onLoss: @Sendable (DestinationError, Duration) -> Void

    /// - Parameters:
    ///   - isEncrypted: for `rtmps`.
    ///   - onLoss: called with the error of a lost connection and the time until the next attempt.
    public init(
      key: String? = nil, isEncrypted: Bool = false,
      onLoss: @escaping @Sendable (DestinationError, Duration) -> Void = { _, _ in }
    ) {
      scheme = isEncrypted ? "rtmps" : "rtmp"
      forms = ["\(scheme)://HOST/APPLICATION/STREAM"]
      self.key = key
      self.onLoss = onLoss
    }

    public func make(
      _ specification: DestinationSpecification, encoder: EncoderSettings
    ) throws(DestinationError) -> any Destination {
      let address = try PublicAddress(specification, schemes: Self.schemes)
      return try PeerDestination(
        RTMPOutlet(address, key: key), encoder: encoder, report: onLoss)
    }
  }
#endif
