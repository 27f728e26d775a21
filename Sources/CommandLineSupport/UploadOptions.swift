import ArgumentParser
import FrameBus

/// The options of `framebus upload` and of the program behind it.
public struct UploadOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Where the frames go: file:PATH.mkv, file:PATH.mp4, png:PATH.png, whip:URL, srt://HOST:PORT, "
        + "rtmp://HOST/APPLICATION/STREAM or rtmps: for it, hls:DIRECTORY or null.",
      discussion: """
        A file has the size of the first frame, without its last column or row if their number \
        is odd; later frames of another size are scaled into it. An existing file is replaced.
        whip:https://HOST/PATH sends live, by WebRTC. To whip:, srt:, rtmp: and rtmps: it \
        connects again when the connection is lost.
        hls: keeps index.m3u8 and the newest files of it in a directory for a web server.
        """))
  public var destination: String

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "The stream to read (default: \(DefaultStream.name)); again for each stream of sound, such "
        + "as audio.app and audio.mic, which are mixed.", valueName: "name"))
  public var streamTexts: [String] = []

  @Option(
    help: ArgumentHelp(
      "latest, keep:N or lossless[:SECONDS] (default: lossless from a file, else latest).",
      valueName: "policy"))
  public var policy: String?

  @Option(help: ArgumentHelp("Bits per second, such as 2500k or 4M.", valueName: "bitrate"))
  public var bitrate: String?

  @Option(help: ArgumentHelp("The encoder: x264[:PRESET] or, to whip:, vp8.", valueName: "encoder"))
  public var encoder: String?

  @Option(
    help: ArgumentHelp(
      "The credential that srt: takes as its passphrase, or rtmp: adds to its address as stream "
        + "key; opened in the role extension, or in that of --role.",
      valueName: "service/account"))
  public var secret: String?

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  public var frames: Int?

  @Option(help: ArgumentHelp("Stop S seconds after the first frame.", valueName: "s"))
  public var duration: Double?

  @Flag(
    help: ArgumentHelp(
      "Measure how far the beeps of `capture beep` are from the flashes of `capture test:flash`."))
  public var skew = false

  @OptionGroup(title: "To whip:") public var access: WHIPAccessOptions
  @OptionGroup(title: "To whip:, the media") public var media: WHIPMediaOptions

  public init() {}

  public func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use seconds, more than 0")
    }
  }

  /// The streams to read: that of pictures, or of sound alone, and then those of sound.
  public func streams() throws(UsageError) -> [StreamName] {
    try StreamName.list(streamTexts, named: "--stream")
  }

  /// These options as a log may have them.
  public var logged: [String] { [LoggedText.address(destination)] + arguments.dropFirst() }

  /// These options as another program of this product parses them again.
  public var arguments: [String] {
    var result = [destination]
    func add(_ name: String, _ value: String?) {
      if let value { result += ["--\(name)=\(value)"] }
    }
    streamTexts.forEach { add("stream", $0) }
    add("policy", policy)
    add("bitrate", bitrate)
    add("encoder", encoder)
    add("secret", secret)
    if skew { result.append("--skew") }
    add("frames", frames.map(String.init))
    add("duration", duration.map { "\($0)" })
    return result + access.arguments + media.arguments
  }
}

/// The stream that capture publishes and upload reads when none is named.
public enum DefaultStream {
  public static let name = "screen"
}

extension StreamName {
  private static let maximumCount = 16

  /// The streams that a verb reads: those that are named, or the usual one.
  static func list(_ texts: [String], named option: String) throws(UsageError) -> [StreamName] {
    var streams: [StreamName] = []
    for text in texts.isEmpty ? [DefaultStream.name] : texts {
      do throws(StreamNameError) {
        streams.append(try StreamName(text))
      } catch {
        throw UsageError("\(error)")
      }
    }
    guard Set(streams).count == streams.count, streams.count <= maximumCount else {
      throw UsageError("\(option): name each stream once, and at most \(maximumCount)")
    }
    return streams
  }
}
