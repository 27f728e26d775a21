#if Media
  import FrameBus
  import Upload

  /// Three encoders of one codec, each of half the width and height of the one before, as one
  /// element, `framebussimulcast`, that makes RTP packets (RFC 8853).
  struct SimulcastEncoder: LiveEncoder {
    private let one: EncoderChoice
    private let profile: H264Profile

    init(
      _ settings: EncoderSettings, profile: H264Profile, codecs: [VideoCodec]
    ) throws(DestinationError) {
      one = try EncoderChoice(settings, codecs: codecs, use: .live(profile))
      self.profile = profile
    }

    let factory = "framebussimulcast"
    var codec: VideoCodec { one.codec }
    var inputFormatName: String { one.inputFormatName }
    var limits: PictureLimits { one.limits }
    var unitCaps: String { one.unitCaps }
    var packer: ElementDescription { one.packer }
    var keyFramesOnRequest: [ElementDescription.Property] { one.keyFramesOnRequest }

    /// Of all layers.
    func bitrate(_ bitsPerSecond: Int) -> ElementDescription.Property {
      one.bitrate(bitsPerSecond)
    }

    func encoding(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      let chain = one.encoding(width: width, height: height, rate: rate)
      var packer = packer
      packer.properties += [.init("name", "packer"), .init("pt", "96")]
      let packing = chain.dropFirst().flatMap(\.properties).map(\.value) + [packer.launchText]
      return [
        ElementDescription(
          factory: factory, package: "framebus",
          properties: (chain.first?.properties ?? []) + [
            .init("packing", packing.joined(separator: " ! ")),
            .init("width", "\(width)"), .init("height", "\(height)"),
          ])
      ]
    }

    /// The packets of all layers, which the offer describes.
    var packing: [ElementDescription] {
      let format =
        codec == .h264
        ? ",packetization-mode=(string)1,profile-level-id=(string)"
          + (profile == .baseline ? "42e01f" : "64001f") : ""
      return [
        .onlyCaps(
          "application/x-rtp,media=(string)video,clock-rate=(int)90000,payload=(int)96,"
            + "encoding-name=(string)\(codec.rtpName),"
            + "extmap-1=(string)urn:ietf:params:rtp-hdrext:sdes:mid,"
            + "extmap-2=(string)urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id" + format)
      ]
    }
  }
#endif
