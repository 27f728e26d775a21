import Platform

/// An endpoint's answer to an offer of all known codecs. No media are sent.
public struct WHIPProbe: Sendable {
  /// A media section of the answer.
  public struct Section: Sendable {
    public let kind: String
    public let isAccepted: Bool
    public let codecs: [String]
    /// The URIs of the accepted header extensions (RFC 8285).
    public let extensions: [String]
  }

  public let address: WebAddress
  public let resource: WebAddress
  public let sections: [Section]
  public let servers: [ICEServer]
  /// The number of candidates in the answer.
  public let candidateCount: Int
  public let isLite: Bool
  public let hasEntityTag: Bool
  public let takesCandidates: Bool
  /// Why the session could not be removed; nil if it was.
  public let removalError: WHIPError?

  /// Sends an offer, examines the answer, and removes the session.
  public init(
    _ endpoint: WHIPEndpoint, client: any HTTPClient, timeout: Duration = .seconds(10),
    stop: StopSignal? = nil
  ) throws(WHIPError) {
    let session = WHIPSession(endpoint, client: client)
    let answer: WHIPAnswer
    do throws(WHIPError) {
      answer = try session.open(offering: Self.offer(), until: .after(timeout), stop: stop)
    } catch {
      try? session.remove(until: .after(timeout))
      throw error
    }
    session.endCandidates()
    let patchError = Self.failure { () throws(WHIPError) in
      try session.sendCandidates(until: .after(timeout), stop: stop)
    }
    removalError = Self.failure { () throws(WHIPError) in
      try session.remove(until: .after(timeout))
    }
    let description = SessionDescription(answer.sdp)
    address = endpoint.address
    resource = answer.resource
    servers = answer.servers
    hasEntityTag = answer.hasEntityTag
    takesCandidates = session.takesCandidates && patchError == nil
    isLite = description.attributes.contains("ice-lite")
    candidateCount = description.media.reduce(0) { count, media in
      count + media.attributes.count { $0.hasPrefix("candidate:") }
    }
    sections = description.media.map { media in
      Section(
        kind: media.kind, isAccepted: media.receives,
        codecs: media.receives ? media.codecs.filter { $0 != "rtx" } : [],
        extensions: media.attributes.filter { $0.hasPrefix("extmap:") }.compactMap {
          $0.split(separator: " ").dropFirst().first.map(String.init)
        })
    }
  }

  private static func failure(_ body: () throws(WHIPError) -> Void) -> WHIPError? {
    do throws(WHIPError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  /// RTP's names of the codecs that it accepts for a kind of media.
  public func codecs(of kind: String) -> [String] {
    sections.filter { $0.kind == kind }.flatMap(\.codecs)
  }

  /// What the endpoint should support and does not.
  public var lacks: [String] {
    let video = codecs(of: "video")
    let audio = codecs(of: "audio")
    var found: [String] = []
    if !["H264", "VP8", "VP9", "H265", "AV1"].contains(where: video.contains) {
      found.append("video in H264, VP8, VP9, H265 or AV1: `framebus upload whip:` has no other")
    }
    if !audio.contains("opus") { found.append("sound in Opus") }
    if candidateCount == 0 {
      found.append("addresses: its answer names none, so it must reach ours")
    }
    if !takesCandidates {
      found.append("PATCH (trickle ICE): it must learn our address from packets or a relay")
    }
    if takesCandidates && !hasEntityTag { found.append("ETag: ICE cannot be restarted") }
    if let removalError { found.append("DELETE: \(removalError)") }
    return found
  }
}

extension WHIPProbe {
  /// An offer of all codecs that endpoints may support, with random credentials and fingerprint.
  private static func offer() -> String {
    var random = SystemRandomNumberGenerator()
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    func word(_ count: Int) -> String {
      String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
    }
    let fingerprint = (0..<32).map { _ in
      let digits = String(UInt8.random(in: 0...255, using: &random), radix: 16, uppercase: true)
      return digits.count == 1 ? "0" + digits : digits
    }.joined(separator: ":")
    let common = [
      "c=IN IP4 0.0.0.0", "a=rtcp-mux", "a=rtcp-rsize", "a=sendonly",
      "a=ice-ufrag:\(word(8))", "a=ice-pwd:\(word(24))", "a=ice-options:trickle",
      "a=fingerprint:sha-256 \(fingerprint)", "a=setup:actpass",
      "a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid",
      "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
      "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    ]
    let stream = "a=msid:framebus"
    let audio =
      ["m=audio 9 UDP/TLS/RTP/SAVPF 111"] + common + [
        "a=mid:0", stream + " audio", "a=rtpmap:111 opus/48000/2",
        "a=fmtp:111 minptime=10;useinbandfec=1",
      ]
    var video =
      ["m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101"] + common + [
        "a=mid:1", stream + " video",
        "a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
        "a=fmtp:97 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f",
        "a=fmtp:99 profile-id=0",
      ]
    for (number, codec) in [
      (96, "H264"), (97, "H264"), (98, "VP8"), (99, "VP9"), (100, "AV1"), (101, "H265"),
    ] {
      video += [
        "a=rtpmap:\(number) \(codec)/90000", "a=rtcp-fb:\(number) nack",
        "a=rtcp-fb:\(number) nack pli", "a=rtcp-fb:\(number) ccm fir",
      ]
    }
    let number = UInt32.random(in: 1...UInt32.max, using: &random)
    let session = [
      "v=0", "o=- \(number) 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1",
      "a=msid-semantic:WMS framebus",
    ]
    return (session + audio + video).map { $0 + "\r\n" }.joined()
  }
}
