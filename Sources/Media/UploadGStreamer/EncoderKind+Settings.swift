#if Media
  import Upload

  /// How each encoder encodes live: no frame waits for another, the bitrate is constant, and key
  /// frames come at an interval and on request. The names of properties are those of GStreamer 1.22
  /// (`gst-inspect-1.0 ELEMENT`); a version that lacks one goes without it.
  extension EncoderKind {
    /// A row for the element `framebusencoder`; UploadEncoder.c says what its fields are.
    /// - Parameter keyFrames: the number of pictures from one key frame to the next.
    func row(_ use: EncoderChoice.Use, preset: String?, keyFrames: Int) -> String {
      let bitrate = bitrate(keyFrames: keyFrames)
      let settings = settings(use, preset: preset) + [interval + "=\(keyFrames)"]
      return [
        element, device == nil ? "" : "NV12", parser, bitrate.property, bitrate.value,
        String(bitrate.unit), settings.joined(separator: " "), onRequest.joined(separator: " "),
      ].joined(separator: "\t")
    }

    private struct Bitrate {
      var property = "bitrate"
      /// With {} for the number.
      var value = "{}"
      /// Bits per second.
      var unit = 1000
    }

    private func bitrate(keyFrames: Int) -> Bitrate {
      switch element {
      case "openh264enc": Bitrate(unit: 1)
      case "vp8enc", "vp9enc": Bitrate(property: "target-bitrate", unit: 1)
      case "av1enc", "svtav1enc": Bitrate(property: "target-bitrate")
      // Names of the kernel's controls (V4L2, codec control reference).
      case "v4l2h264enc":
        Bitrate(
          property: "extra-controls",
          value: "controls,video_bitrate_mode=1,video_bitrate={},video_gop_size=\(keyFrames),"
            + "repeat_sequence_header=1", unit: 1)
      default: Bitrate()
      }
    }

    /// Gives containers and payloaders the form that they take. x264enc makes each by itself, and
    /// so do encoders of VP8.
    private var parser: String {
      switch codec {
      case .h264: element == "x264enc" ? "" : "h264parse"
      case .h265: "h265parse"
      case .vp8: ""
      case .vp9: "vp9parse"
      case .av1: "av1parse"
      }
    }

    /// The property of the number of pictures from one key frame to the next.
    private var interval: String {
      switch element {
      case "x264enc", "x265enc", "vah264enc", "vah265enc": "key-int-max"
      case "vaapih264enc": "keyframe-period"
      case "svtav1enc": "intra-period-length"
      case "vp8enc", "vp9enc", "av1enc": "keyframe-max-dist"
      default: "gop-size"
      }
    }

    private func settings(_ use: EncoderChoice.Use, preset: String?) -> [String] {
      switch element {
      case "x264enc":
        // A full buffer of bits, by default 600 ms, delays a lower bitrate by that much.
        ["tune=zerolatency", "speed-preset=\(preset ?? "ultrafast")"]
          + (use == .stored ? [] : ["vbv-buf-capacity=200"])
      case "x265enc":
        // x265's documentation, “zerolatency”: no lookahead, no B frames, one frame at a time.
        ["tune=zerolatency", "speed-preset=\(preset ?? "ultrafast")"]
      case "openh264enc":
        // codec_app_def.h: SCREEN_CONTENT_REAL_TIME. A skipped frame would be a hole in the stream.
        [
          "usage-type=screen", "rate-control=bitrate", "complexity=low",
          "enable-frame-skip=false", "multi-thread=2",
        ]
      case "vp8enc", "vp9enc":
        // As WebRTC sets libvpx (modules/video_coding/codecs/vp8 and vp9): milliseconds of buffer,
        // because the default of 6 s follows a lower bitrate slowly.
        [
          "deadline=1", "end-usage=cbr", "error-resilient=default", "lag-in-frames=0",
          "buffer-size=1000", "buffer-initial-size=500", "buffer-optimal-size=600", "threads=2",
        ] + (codec == .vp8 ? ["cpu-used=16"] : ["cpu-used=9", "row-mt=true", "tile-columns=1"])
      case "av1enc":
        // As WebRTC sets libaom (modules/video_coding/codecs/av1).
        [
          "usage-profile=realtime", "end-usage=cbr", "lag-in-frames=0", "row-mt=true",
          // A range of quantizers, without which av1enc 1.22 has none, and libaom ends the process.
          "cpu-used=\(preset ?? "10")", "min-quantizer=10", "max-quantizer=56", "buf-sz=1000",
          "buf-initial-sz=600", "buf-optimal-sz=600",
          "threads=2", "tile-columns=1",
        ]
      case "svtav1enc":
        // SVT-AV1's parameters: low delay, constant bitrate.
        ["preset=\(preset ?? "10")", "parameters-string=pred-struct=1:rc=2"]
      case "vah264enc", "vah265enc":
        ["rate-control=cbr", "b-frames=0", "ref-frames=1", "target-usage=6"]
      case "vaapih264enc": ["rate-control=cbr", "max-bframes=0", "refs=1", "quality-level=6"]
      case "nvh264enc", "nvh265enc":
        ["preset=low-latency-hq", "rc-mode=cbr", "zerolatency=true", "bframes=0"]
      default: []
      }
    }

    /// Key frames on request alone: no interval, and none at a change of scene.
    private var onRequest: [String] {
      switch element {
      // X264_KEYINT_MAX_INFINITE (x264.h).
      case "x264enc": ["key-int-max=\(1 << 30)", "option-string=scenecut=0"]
      case "x265enc": ["key-int-max=\(1 << 30)", "option-string=scenecut=0"]
      case "openh264enc": ["gop-size=\(1 << 30)", "scene-change-detection=false"]
      case "vp8enc", "vp9enc", "av1enc": ["keyframe-max-dist=\(Int32.max)"]
      case "vah264enc", "vah265enc": ["key-int-max=1024"]
      case "nvh264enc", "nvh265enc": ["gop-size=-1"]
      default: []
      }
    }
  }
#endif
