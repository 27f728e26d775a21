#if Media
  import Platform
  import Upload

  /// A transport stream in datagrams of seven packets (RFC 2250, section 2), to one host or to a
  /// multicast group. Nobody answers, so datagrams that no receiver takes are not an error.
  final class UDPOutlet: Outlet {
    static let kinds = [DestinationKind.udp]
    private static let resolverTimeout = Duration.seconds(10)

    let output: String
    let soundEncoders = [SoundEncoder.aac]
    private let host: String
    private let port: UInt16
    /// The number of networks that a multicast datagram may enter.
    private let timeToLive: UInt8
    /// The host's address, from `prepare` on.
    private var address = ""

    init(_ named: DestinationSpecification, _ setup: DestinationSetup) throws(DestinationError) {
      output = named.description
      let parts = named.address.split(
        separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      guard let colon = parts[0].lastIndex(of: ":") else { throw .malformed(output) }
      let name = parts[0][..<colon]
      let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
      host = String(isLiteral ? name.dropFirst().dropLast() : name)
      guard !host.isEmpty, host.contains(":") == isLiteral,
        host.allSatisfy({ $0.isLetter || $0.isNumber || ".-_:%".contains($0) })
      else { throw .malformed(output) }
      let digits = parts[0][parts[0].index(after: colon)...]
      guard let port = UInt16(digits), port > 0, digits.allSatisfy(\.isNumber) else {
        throw .peer(
          reason: "“\(digits)” is not a port; use 1 to 65535, such as udp:HOST:5004", isMisuse: true
        )
      }
      self.port = port
      let option = parts.count > 1 ? parts[1] : "ttl=1"
      guard option.hasPrefix("ttl="), let hops = UInt8(option.dropFirst(4)) else {
        throw .peer(reason: "“?\(option)” is not ?ttl=N, with N from 0 to 255", isMisuse: true)
      }
      timeToLive = hops
    }

    var codecs: [VideoCodec] { TransportStream.codecs }
    var elements: [ElementDescription] { TransportStream.elements + [sink] }
    var elementsForSoundAlone: [ElementDescription] { [TransportStream.muxer, sink] }

    private var sink: ElementDescription {
      ElementDescription(
        factory: "udpsink", package: "gstreamer1.0-plugins-good",
        properties: [
          .init("host", address), .init("port", "\(port)"), .init("ttl-mc", "\(timeToLive)"),
          // Sending to a group needs no membership in it.
          .init("auto-multicast", "false"),
          // No receiver slows the sender down: what a file has is sent when it is due.
          .init("sync", "true"),
        ])
    }

    /// udpsink sends nothing, without an error, to a name that it cannot resolve or to an address
    /// without a route.
    func prepare() throws(DestinationError) {
      var reason = "no name server knows \(host)"
      do throws(SystemError) {
        address =
          try addresses(ofHost: host, until: .after(Self.resolverTimeout), stop: StopSignal())?
          .first ?? ""
        if !address.isEmpty { return try checkRoute(to: address, port: port) }
      } catch {
        reason = error.reason
      }
      throw .peer(
        reason: "cannot send to \(output): \(reason); check the address and the network",
        isMisuse: false)
    }
  }
#endif
