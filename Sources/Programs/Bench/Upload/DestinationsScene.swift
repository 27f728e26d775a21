import CommandLineSupport
import Platform

/// A way to go live, record and write segments at once; the first one only goes live.
enum DestinationsSubject: String, CaseIterable {
  case one = "one destination"
  case three = "three destinations"
  case uploads = "three uploads"
  /// One pipeline with a tee, whose live branch is RTP without encryption: Debian's GStreamer has
  /// no element for WHIP.
  case gstreamer = "gstreamer tee"
}

/// The pictures and the sound that every subject sends.
struct DestinationsScene: Sendable {
  static let (width, height, framesPerSecond) = (1920, 1080, 30)

  let folder: String
  let groupID: String
  let hasSound: Bool

  var text: String { "\(Self.height)p\(Self.framesPerSecond)" + (hasSound ? ", sound" : "") }
  var file: String { folder + "/recording.mkv" }
  var web: String { folder + "/web" }
  private var bitsPerSecond: Int { Self.width * Self.height * 3 }

  /// The programs that publish; none for a pipeline that draws its own.
  func sources(of subject: DestinationsSubject) throws(MissingSubject) -> [CaptureSubject.Program] {
    if subject == .gstreamer { return [] }
    let size = ["--size", "\(Self.width)x\(Self.height)", "--fps", "\(Self.framesPerSecond)"]
    let pictures = try own("framebus-capture", ["test:bars"] + size + group)
    return hasSound ? [pictures, try own("framebus-capture", ["tone:440"] + group)] : [pictures]
  }

  /// The programs that encode, to a receiver on this port.
  func uploaders(
    of subject: DestinationsSubject, to port: Int
  ) throws(MissingSubject) -> [CaptureSubject.Program] {
    let whip = "whip:http://127.0.0.1:\(port)/whip"
    let all = [whip, "file:\(file)", "hls:\(web)"]
    return switch subject {
    case .one: [try upload([whip])]
    case .three: [try upload(all)]
    case .uploads: [try upload([all[0]]), try upload([all[1]]), try upload([all[2]])]
    case .gstreamer: [try pipeline()]
    }
  }

  private var group: [String] { ["--root", folder, "--group", groupID] }

  private func upload(_ destinations: [String]) throws(MissingSubject) -> CaptureSubject.Program {
    let streams = ["--stream", "screen"] + (hasSound ? ["--stream", "audio.app"] : [])
    // A file alone would be lossless, and stop the others with it on a slow disk.
    return try own("framebus-upload", destinations + ["--policy", "latest"] + streams + group)
  }

  private func own(
    _ name: String, _ arguments: [String]
  ) throws(MissingSubject) -> CaptureSubject.Program {
    try .own(name, arguments, for: "destinations")
  }

  /// With the encoders and settings of FrameBus.
  private func pipeline() throws(MissingSubject) -> CaptureSubject.Program {
    guard let path = programInPath(named: "gst-launch-1.0") else {
      throw MissingSubject(
        subject: DestinationsSubject.gstreamer.rawValue, program: "gst-launch-1.0",
        remedy: "install it: apt-get install gstreamer1.0-tools")
    }
    let raw = "video/x-raw,format=BGRx,width=\(Self.width),height=\(Self.height)"
    let words =
      "videotestsrc is-live=true ! \(raw),framerate=\(Self.framesPerSecond)/1"
      + " ! progressreport do-query=false update-freq=1 format=buffers ! videoconvert"
      + " ! x264enc speed-preset=ultrafast tune=zerolatency bitrate=\(bitsPerSecond / 1000)"
      + " key-int-max=\(Self.framesPerSecond * 2)"
      + " ! video/x-h264,profile=constrained-baseline ! tee name=pictures"
      + " pictures. ! queue ! h264parse ! rtph264pay ! udpsink host=127.0.0.1 port=9"
      + " pictures. ! queue ! h264parse ! matroskamux name=mkv ! filesink location=\(file)"
      + " pictures. ! queue ! h264parse ! segments.video"
      + " hlssink2 name=segments target-duration=2 location=\(web)/tee%05d.ts"
      + " playlist-location=\(web)/tee.m3u8"
    let sound =
      " audiotestsrc is-live=true freq=440 ! audio/x-raw,rate=48000,channels=2"
      + " ! audioconvert ! tee name=sound"
      + " sound. ! queue ! opusenc bitrate=128000 ! tee name=opus"
      + " opus. ! queue ! rtpopuspay ! udpsink host=127.0.0.1 port=9"
      + " opus. ! queue ! mkv."
      + " sound. ! queue ! audioconvert ! avenc_aac bitrate=128000 ! aacparse ! segments.audio"
    let all = words + (hasSound ? sound : "")
    return .init(
      name: "gst-launch-1.0", path: path,
      arguments: ["-q"] + all.split(separator: " ").map(String.init))
  }
}
