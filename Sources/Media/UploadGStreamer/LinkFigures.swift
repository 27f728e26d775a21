#if Media
  import CGStreamer
  import Platform
  import Upload

  /// The figures of one connection to a peer.
  struct LinkFigures {
    /// Fewer packets give no meaningful share.
    private static let fewestPackets: UInt64 = 50

    private(set) var network = NetworkFigures()
    /// Nil until it is known.
    private(set) var bytesArrived: UInt64?
    /// When the share of lost packets was last computed.
    private var sentBefore: UInt64 = 0
    private var lostBefore: UInt64 = 0

    mutating func take(_ link: upload_link) {
      // SRT reports a loss after it has counted the bytes.
      bytesArrived = max(bytesArrived ?? 0, link.bytesArrived)
      network.roundTripNs = link.roundTripNs > 0 ? link.roundTripNs : nil
      network.retransmittedPackets = Int(clamping: link.packetsRetransmitted)
      let sent = link.packetsSent &- sentBefore
      guard link.packetsSent >= sentBefore, link.packetsLost >= lostBefore,
        sent >= Self.fewestPackets
      else { return }
      network.lostShare = min(1, Double(link.packetsLost - lostBefore) / Double(sent))
      (sentBefore, lostBefore) = (link.packetsSent, link.packetsLost)
    }
  }

  extension LinkSample {
    init(_ link: upload_link, backlogNs: UInt64) {
      self.init(
        nowNs: monotonicNowNs(), bytesArrived: link.bytesArrived,
        roundTripNs: link.roundTripNs > 0 ? link.roundTripNs : nil,
        packetsSent: link.packetsSent, packetsLost: link.packetsLost,
        packetsDropped: link.packetsDropped, bytesUnsent: link.bytesUnsent, backlogNs: backlogNs)
    }
  }
#endif
