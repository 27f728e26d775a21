#if Media
  import Platform
  import Upload

  /// An SRT peer, which receives an MPEG transport stream.
  final class SRTOutlet: Outlet {
    static let kinds = [DestinationKind.srt]
    static let reconnects = true
    /// The handshake may be lost, and libsrt gives up after three seconds.
    let firstRetries = Duration.seconds(10)
    private static let passphraseLengths = 10...79

    let output: String
    let soundEncoders = [SoundEncoder.aac]
    private let location: String
    private let passphrase: String?
    /// Texts that no message may show: many servers expect a key in the parameter `streamid`.
    private let keys: [String]

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      let address = try PublicAddress(named)
      guard address.port != nil else { throw .malformed(named.description) }
      // The only parameter of libsrt that is always secret.
      guard !AddressKeys.decoded(address.text).lowercased().contains("passphrase") else {
        throw .secretInAddress(address.scheme)
      }
      if let passphrase = setup.secret, !Self.passphraseLengths.contains(passphrase.utf8.count) {
        throw .unusableSecret("SRT passphrases have 10 to 79 bytes")
      }
      output = address.shown
      location = address.text
      keys = address.keys
      passphrase = setup.secret
    }

    var codecs: [VideoCodec] { TransportStream.codecs }
    var elements: [ElementDescription] { TransportStream.elements + [sink] }
    var elementsForSoundAlone: [ElementDescription] { [TransportStream.muxer, sink] }

    private var sink: ElementDescription {
      ElementDescription(
        factory: "srtsink", package: "gstreamer1.0-plugins-bad",
        properties: [
          .init("uri", location), .init("sync", "false"),
          // A missing or lost peer must be an error; `PeerDestination` reconnects.
          .init("auto-reconnect", "false"),
        ] + (passphrase.map { [.init("passphrase", $0), .init("pbkeylen", "16")] } ?? []))
    }

    func prepare() throws(DestinationError) {}

    /// srtsink 1.22 writes without a connection, and so reports neither a missing listener nor its
    /// refusal.
    func redacted(_ message: String) -> String {
      message.contains("Connection does not exist")
        ? "no SRT connection: nobody listens there, or the listener refuses the passphrase "
          + "(--secret) or the streamid" : message.without(keys)
    }
  }
#endif
