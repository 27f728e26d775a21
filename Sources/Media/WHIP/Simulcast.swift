/// Several sizes of the same pictures in one media section (RFC 8853).
extension SessionDescription {
  private static let nameExtension = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
  /// The names of the layers, the largest first, as UploadSimulcast.c writes them into packets.
  private static let layers = ["h", "m", "l"]

  /// The offer with the layers of its section of video (RFC 8851), if its packets name them
  /// (RFC 8852). webrtcbin 1.22 sends them so, but does not describe them.
  public static func namingLayers(in offer: String) -> String {
    let lines = offer.split(separator: "\r\n", omittingEmptySubsequences: false)
    return lines.flatMap { line in
      guard line.hasPrefix("a=extmap:"), line.hasSuffix(nameExtension) else {
        return [String(line)]
      }
      return [String(line)] + layers.map { "a=rid:\($0) send" }
        + ["a=simulcast:send " + layers.joined(separator: ";")]
    }.joined(separator: "\r\n")
  }

  /// Whether this answer takes the layers of the offer, or the offer has none.
  func takesLayers(of offer: SessionDescription) -> Bool {
    func has(_ start: String, _ description: SessionDescription) -> Bool {
      description.media.contains { $0.attributes.contains { $0.hasPrefix(start) } }
    }
    return !has("simulcast:send ", offer) || has("simulcast:recv ", self)
  }
}
