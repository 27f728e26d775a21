import ArgumentParser
import FrameBus

/// The options of `framebus view` and `framebus-view`.
public struct ViewOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Picture stream (default: \(DefaultStream.name)), then sound streams.",
      discussion: "Sound streams, such as audio.app and audio.mic, are mixed.",
      valueName: "stream"))
  public var streamTexts: [String] = []

  @Option(
    help: ArgumentHelp(
      "ADDRESS[:PORT] or PORT (default: 127.0.0.1, a free port).",
      valueName: "address"))
  public var listen: String?

  @Option(help: ArgumentHelp("Bits per second, such as 2500k or 4M.", valueName: "bitrate"))
  public var bitrate: String?

  @Option(help: ArgumentHelp("Encoder: x264[:PRESET] or vp8.", valueName: "encoder"))
  public var encoder: String?

  @Option(help: ArgumentHelp("Maximum number of viewers, up to 32.", valueName: "n"))
  public var viewers = 8

  public init() {}

  public func validate() throws {
    guard (1...32).contains(viewers) else {
      throw ValidationError("--viewers \(viewers): use 1 to 32")
    }
  }

  public func streams() throws(UsageError) -> [StreamName] {
    try StreamName.list(streamTexts, named: "STREAM")
  }
}
