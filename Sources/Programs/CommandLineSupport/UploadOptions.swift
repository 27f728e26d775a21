import ArgumentParser
import FrameBus
import Upload

/// The options of `framebus upload` and `framebus-upload`.
public struct UploadOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Destinations, each one of those listed here.",
      discussion: """
        Several share one encoder, such as whip:https://HOST/PATH file:PATH.mkv to go live and \
        record at once. One that is slow, fails or comes back disturbs no other.
        \(DestinationKind.all.map { "\($0.forms.joined(separator: ", ")): \($0.help)." }
          .joined(separator: "\n"))
        whip alone: the server that the setting whipURL of the group names.
        A file has the size of the first frame, without its last column or row if the number of \
        columns or rows is odd; later frames of another size are scaled to fit. An existing file \
        is replaced.
        """,
      valueName: "destination"))
  public var destinations: [String]

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "Stream to read (default: \(DefaultStream.name)); repeatable.",
      discussion: "Sound streams, such as audio.app and audio.mic, are mixed.",
      valueName: "name"))
  public var streamTexts: [String] = []

  @Option(
    help: ArgumentHelp(
      "Drop policy: latest, keep:N or lossless[:SECONDS].",
      discussion: "The default is lossless for a file, else latest.",
      valueName: "policy"))
  public var policy: String?

  @OptionGroup public var encoding: EncodingOptions

  @Option(
    help: ArgumentHelp(
      "Credential for the destination's own secret.",
      discussion: """
        It is \(DestinationKind.secrets(of: "secret")). Opened in the role of --role \
        (default: extension).
        """,
      valueName: "service/account"))
  public var secret: String?

  @Option(
    help: ArgumentHelp(
      "Server that whipURL may name, for the destination whip.",
      discussion: """
        Such as https://live.example.com. Any member can write the setting, so the token of \
        whip/bearer, --credential or --bearer-fd is sent only to a server that is named here.
        """,
      valueName: "url"))
  public var server: String?

  @Flag(
    help: ArgumentHelp(
      "Also send to what `upload add DESTINATION` adds.",
      discussion: """
        `framebus upload add DESTINATION` and `upload remove DESTINATION` change the list \
        uploadDestinations in the group's settings, and with it every upload that has this option. \
        Any member can write it: the option lets all of them choose where the stream goes. What is \
        added is sent no token and no secret.
        """))
  public var follow = false

  @Option(help: ArgumentHelp("Stop after N frames.", valueName: "n"))
  public var frames: Int?

  @Option(help: ArgumentHelp("Stop S seconds after the first frame.", valueName: "s"))
  public var duration: Double?

  @Flag(
    help: ArgumentHelp(
      "Write the newest picture even if it is old.",
      discussion: """
        For a PNG file. Without it, a paused stream, or a screen that publishes no new picture, is \
        an error.
        """))
  public var allowOld = false

  @Flag(
    help: ArgumentHelp(
      "Measure the offset between beeps and flashes.",
      discussion: "For the sources beep and test:flash of `framebus capture`."))
  public var skew = false

  @OptionGroup(title: "Connection") public var connection: ConnectionOptions
  @OptionGroup(title: "WHIP access") public var access: WHIPAccessOptions
  @OptionGroup(title: "WHIP media") public var media: WHIPMediaOptions

  public init() {}

  public func validate() throws {
    if let frames, frames < 1 { throw ValidationError("--frames \(frames): use 1 or more") }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use a number of seconds above 0, up to 1e9")
    }
  }

  /// The streams to read: first the pictures, if any, then the sound.
  public func streams() throws(UsageError) -> [StreamName] {
    try StreamName.list(streamTexts, named: "--stream")
  }

  /// The options without secrets, for a log.
  public var logged: [String] { destinations.map(LoggedText.address) + optionArguments }
}

/// The options for the connection to a peer.
public struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Seconds of attempts to connect again (default: 120).",
      discussion: """
        For whip:, srt: and rtmp:. whip: tries as long to connect for the first time, srt: for at \
        most 10 s. 0 disables further attempts.
        """,
      valueName: "s"))
  public var retryFor: Double?

  @Option(
    help: ArgumentHelp(
      "Seconds of silence after which a WHIP peer is lost.",
      discussion: """
        The default is 10. A peer that reports rarely may be silent for twice its usual interval, \
        up to 10 s.
        """,
      valueName: "s"))
  public var lostAfter: Double?

  public init() {}

  public func validate() throws {
    if let retryFor, !(retryFor >= 0 && retryFor <= 1e9) {
      throw ValidationError("--retry-for \(retryFor): use a number of seconds from 0 to 1e9")
    }
    if let lostAfter, !(lostAfter >= 1 && lostAfter <= 1e9) {
      throw ValidationError("--lost-after \(lostAfter): use a number of seconds from 1 to 1e9")
    }
  }

  /// The options that no destination of these kinds reads.
  public func useless(for kinds: [DestinationKind]) -> [String] {
    let reconnecting = [DestinationKind.whip, .srt, .rtmp, .rtmps]
    var useless: [String] = []
    if retryFor != nil, !kinds.contains(where: { reconnecting.contains($0) }) {
      useless.append("--retry-for")
    }
    if lostAfter != nil, !kinds.contains(.whip) { useless.append("--lost-after") }
    return useless
  }
}

/// The encoder's options, which `framebus extension register --builtin` takes as well.
public struct EncodingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Bits per second, such as 2500k or 4M.", valueName: "bitrate"))
  public var bitrate: String?

  @Option(
    help: ArgumentHelp("auto, a codec such as vp8, or NAME[:PRESET].", valueName: "encoder"))
  public var encoder: String?

  public init() {}
}

/// The default stream of capture and upload.
public enum DefaultStream {
  public static let name = "screen"
}

extension StreamName {
  private static let maximumCount = 16

  /// The named streams, or the default one.
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
