#if Media
  import Upload
  import WHIP

  /// An SRT peer, which receives an MPEG transport stream.
  final class SRTOutlet: Outlet {
    private static let passphraseLengths = 10...79

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let location: String
    private let passphrase: String?
    /// Texts that no message may show: many servers expect a key in the parameter `streamid`.
    private let keys: [String]

    init(_ address: PublicAddress, passphrase: String?) throws(DestinationError) {
      // The only parameter of libsrt that is always secret.
      guard !AddressKeys.decoded(address.text).lowercased().contains("passphrase") else {
        throw .secretInAddress(address.scheme)
      }
      if let passphrase, !Self.passphraseLengths.contains(passphrase.utf8.count) {
        throw .unusableSecret("SRT passphrases have 10 to 79 bytes")
      }
      output = address.shown
      location = address.text
      keys = address.keys
      self.passphrase = passphrase
    }

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

    func redacted(_ message: String) -> String { message.without(keys) }
  }

  /// `srt://HOST:PORT`
  public struct SRTDestinationMaker: DestinationMaker {
    package static let schemes = ["srt"]

    public let scheme = "srt"
    public let forms = ["srt://HOST:PORT"]
    private let passphrase: String?
    private let onLoss: @Sendable (DestinationError, Duration) -> Void

    /// - Parameter onLoss: called with the error of a lost connection and the time until the next
    ///   attempt.
    public init(
      passphrase: String? = nil,
      onLoss: @escaping @Sendable (DestinationError, Duration) -> Void = { _, _ in }
    ) {
      self.passphrase = passphrase
      self.onLoss = onLoss
    }

    public func make(
      _ specification: DestinationSpecification, encoder: EncoderSettings
    ) throws(DestinationError) -> any Destination {
      let address = try PublicAddress(specification, schemes: Self.schemes)
      return try PeerDestination(
        SRTOutlet(address, passphrase: passphrase), encoder: encoder, report: onLoss)
    }
  }
#endif
