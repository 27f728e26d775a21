#if Media
  import Upload

  /// The elements of an MPEG transport stream, which a receiver can join at any point.
  enum TransportStream {
    static let elements = [parser, muxer]
    static let codecs = [VideoCodec.h264, .h265]

    /// A receiver that joins needs the parameter sets with every key frame.
    static let parser = ElementDescription(
      factory: "h264parse", package: "gstreamer1.0-plugins-bad",
      properties: [.init("config-interval", "-1")])

    /// Seven packets of 188 bytes, which fit into one datagram.
    static let muxer = ElementDescription(
      factory: "mpegtsmux", package: "gstreamer1.0-plugins-bad",
      properties: [.init("alignment", "7")], soundPad: "sink_%d")
  }
#endif
