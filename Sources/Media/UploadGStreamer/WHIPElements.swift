#if Media
  // The elements of a WHIP upload around its encoder.

  extension ElementDescription {
    /// The sound track without pictures. CWebRTC builds the same one beside pictures.
    static let sound =
      [
        ElementDescription(factory: "audioconvert", package: "gstreamer1.0-plugins-base"),
        ElementDescription(
          factory: "opusenc", package: "gstreamer1.0-plugins-base",
          properties: [
            .init("audio-type", "restricted-lowdelay"), .init("frame-size", "20"),
            .init("bitrate", "96000"),
          ]),
      ] + soundPacking

    /// Puts the parameter sets into the format, so that the offer never lacks them.
    static let sharedUnits = [
      sharedParser, onlyCaps("video/x-h264,stream-format=avc,alignment=au"),
    ]

    static let soundPacking = [
      ElementDescription(factory: "rtpopuspay", package: "gstreamer1.0-plugins-good"),
      .onlyCaps("application/x-rtp,media=audio,encoding-name=OPUS,payload=111"),
    ]

    /// Sends RTP over a WebRTC connection.
    static let transport = ElementDescription(
      factory: "webrtcbin", package: "gstreamer1.0-plugins-bad",
      properties: [.init("bundle-policy", "max-bundle"), .init("latency", "0")])
  }
#endif
