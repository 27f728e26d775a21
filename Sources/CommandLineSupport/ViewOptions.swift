import ArgumentParser
import FrameBus

/// The options of `framebus view` and of the program behind it.
public struct ViewOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The stream of pictures (default: \(DefaultStream.name)), then those of sound, such as "
        + "audio.app, which are mixed.", valueName: "stream"))
  public var streamTexts: [String] = []

  @Option(
    help: ArgumentHelp(
      "Where the page is served: ADDRESS[:PORT] or PORT (default: 127.0.0.1, a free port).",
      valueName: "address"))
  public var listen: String?

  @Option(help: ArgumentHelp("Bits per second, such as 2500k or 4M.", valueName: "bitrate"))
  public var bitrate: String?

  @Option(help: ArgumentHelp("The encoder: x264[:PRESET] or vp8.", valueName: "encoder"))
  public var encoder: String?

  @Option(help: ArgumentHelp("How many may watch at once, up to 32.", valueName: "n"))
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

  /// These options as another program of this product parses them again.
  public var arguments: [String] {
    var result = streamTexts
    if let listen { result.append("--listen=\(listen)") }
    if let bitrate { result.append("--bitrate=\(bitrate)") }
    if let encoder { result.append("--encoder=\(encoder)") }
    return result + ["--viewers=\(viewers)"]
  }
}
