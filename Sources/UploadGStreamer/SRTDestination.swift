#if Media
  import Upload

  /// A peer that speaks SRT, which gets an MPEG transport stream.
  final class SRTOutlet: Outlet {
    private static let passphraseLengths = 10...79

    let output: String
    let soundEncoder = SoundEncoder.aac
    private let passphrase: String?

    init(_ address: PublicAddress, passphrase: String?) throws(DestinationError) {
      // Of its parameters, libsrt has one that is secret.
      guard !address.text.lowercased().contains("passphrase") else {
        throw .secretInAddress(address.scheme)
      }
      if let passphrase, !Self.passphraseLengths.contains(passphrase.utf8.count) {
        throw .unusableSecret("SRT takes passphrases of 10 to 79 bytes")
      }
      output = address.text
      self.passphrase = passphrase
    }

    var elements: [ElementDescription] { TransportStream.elements + [sink] }
    var elementsForSoundAlone: [ElementDescription] { [TransportStream.muxer, sink] }

    private var sink: ElementDescription {
      ElementDescription(
        factory: "srtsink", package: "gstreamer1.0-plugins-bad",
        properties: [
          .init("uri", output), .init("sync", "false"),
          // A peer that is not there, or goes, is an error that is seen; see `PeerDestination`.
          .init("auto-reconnect", "false"),
        ] + (passphrase.map { [.init("passphrase", $0), .init("pbkeylen", "16")] } ?? []))
    }

    func prepare() throws(DestinationError) {}
  }

  /// `srt://HOST:PORT`
  public struct SRTDestinationMaker: DestinationMaker {
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
      let address = try PublicAddress(specification, schemes: ["srt"])
      return try PeerDestination(
        SRTOutlet(address, passphrase: passphrase), encoder: encoder, report: onLoss)
    }
  }
#endif
