#if Media
  import Upload
  import WHIP

  /// A peer that speaks SRT, which gets an MPEG transport stream.
  final class SRTOutlet: Outlet {
    private static let passphraseLengths = 10...79

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let location: String
    private let passphrase: String?
    /// What no message may show: many servers find a key in the parameter `streamid`.
    private let keys: [String]

    init(_ address: PublicAddress, passphrase: String?) throws(DestinationError) {
      // The one parameter of libsrt that is never anything but secret.
      guard !AddressKeys.decoded(address.text).lowercased().contains("passphrase") else {
        throw .secretInAddress(address.scheme)
      }
      if let passphrase, !Self.passphraseLengths.contains(passphrase.utf8.count) {
        throw .unusableSecret("SRT takes passphrases of 10 to 79 bytes")
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
          // A peer that is not there, or goes, is an error that is seen; see `PeerDestination`.
          .init("auto-reconnect", "false"),
        ] + (passphrase.map { [.init("passphrase", $0), .init("pbkeylen", "16")] } ?? []))
    }

    func prepare() throws(DestinationError) {}

    func blanked(_ message: String) -> String { message.without(keys) }
  }

  /// `srt://HOST:PORT`
  public struct SRTDestinationMaker: DestinationMaker {
    package static let schemes = ["srt"]

    public let scheme = "srt"
    public let spellings = ["srt://HOST:PORT"]
    private let passphrase: String?
    private let onLoss: @Sendable (DestinationError, Duration) -> Void

    /// - Parameter onLoss: told of a lost connection, and of the time until the next attempt.
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
