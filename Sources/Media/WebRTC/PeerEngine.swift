#if Media
  import Platform
  import WHIP

  /// An engine that is one webrtcbin.
  package protocol PeerEngine: WebRTCEngine {
    var peer: PeerHandle { get }
  }

  extension PeerEngine {
    package var events: WebRTCEvents { peer.events }

    package func makeOffer() throws(WHIPError) -> String { try peer.makeOffer() }
    package func add(
      _ server: ICEServer, until deadline: Deadline, stop: StopSignal
    ) throws(WHIPError) {
      try peer.add(server, until: deadline, stop: stop)
    }
    package func useAllAddresses() throws(WHIPError) { try peer.useAllAddresses() }
    package func use(offer: String) throws(WHIPError) { try peer.use(offer: offer) }
    package func use(answer: String) throws(WHIPError) { try peer.use(answer: answer) }
  }
#endif
