#if Media
  import Capture
  import Sound

  /// The pipeline that receives and decodes a stream of another machine.
  struct NetworkElements {
    /// In the syntax of `gst-launch-1.0`; nothing in it comes from the address.
    let description: String
    /// Properties, as (element, property, value).
    let texts: [(String, String, String)]

    /// - Parameter kilobits: of an adaptive stream, the rendition with the highest rate up to this;
    ///   0 for any.
    init(
      _ address: SourceAddress, _ secret: NetworkSecret?, hasSound: Bool, kilobits: UInt32
    ) {
      let heard =
        "audioconvert name=heard ! \(SoundFormat.caps),layout=interleaved ! "
        + "fakesink name=sound sync=false async=false"
      let seen = PipelineSource.tail(nil)
      let reader = Self.element(reading: address.scheme) ?? ""
      switch address.scheme {
      case "srt":
        // A thread that reads looks every tenth of a second whether it has to end.
        let source = "\(reader) name=source auto-reconnect=false poll-timeout=100"
        description = Self.container(source, seen, hasSound ? heard : nil)
        texts =
          [("source", "uri", address.text)]
          + (secret.map { [("source", "passphrase", $0.text)] } ?? [])
      case "rtmp", "rtmps":
        let location = secret.map { address.text + "/" + $0.text } ?? address.text
        description = Self.container("\(reader) name=source", seen, hasSound ? heard : nil)
        texts = [("source", "location", location)]
      case "hls":
        // Segments come in bursts: each part waits for its time.
        let paced = "identity sync=true ! "
        description = Self.container(
          "\(reader) name=source timeout=10", paced + seen, hasSound ? paced + heard : nil,
          kilobits: kilobits)
        texts = [("source", "location", address.web?.text ?? "")]
      case "whep":
        description =
          "webrtcbin name=source bundle-policy=max-bundle latency=100 "
          + "decodebin name=decoder ! \(seen)"
          + (hasSound ? " decodebin name=hearing ! \(heard)" : "")
        texts = []
      default:
        // One TCP connection passes every firewall that the request passed; `rtsps:` encrypts it.
        description =
          "\(reader) name=source protocols=tcp latency=200 tcp-timeout=5000000 "
          + "decodebin name=decoder ! \(seen)"
          + (hasSound ? " decodebin name=hearing ! \(heard)" : "")
        texts =
          [("source", "location", address.text)]
          + (secret.map { [("source", "user-id", $0.user), ("source", "user-pw", $0.text)] } ?? [])
      }
    }

    /// The element that reads addresses of a scheme; nil if none does.
    static func element(reading scheme: String) -> String? {
      switch scheme {
      case "srt": "srtsrc"
      case "rtmp", "rtmps": "rtmp2src"
      case "hls": "souphttpsrc"
      case "whep": nil
      default: "rtspsrc"
      }
    }

    /// One byte stream with all tracks.
    private static func container(
      _ source: String, _ seen: String, _ heard: String?, kilobits: UInt32 = 0
    ) -> String {
      "\(source) ! decodebin name=decoder connection-speed=\(kilobits) decoder. ! \(seen)"
        + (heard.map { " decoder. ! \($0)" } ?? "")
    }
  }
#endif
