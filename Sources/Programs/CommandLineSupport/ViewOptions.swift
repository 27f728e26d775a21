import ArgumentParser
import FrameBus

/// The options of `framebus view` and `framebus-view`.
public struct ViewOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Picture stream (default: \(DefaultStream.name)), sound streams, whep:URL.",
      discussion: """
        Sound streams, such as audio.app and audio.mic, are mixed. whep:URL shows the pictures of \
        another server (WHEP) beside them; repeatable.
        """,
      valueName: "stream"))
  public var streamTexts: [String] = []

  @Option(
    help: ArgumentHelp(
      "ADDRESS[:PORT] or PORT (default: 127.0.0.1, a free port).",
      valueName: "address"))
  public var listen: String?

  @Option(help: ArgumentHelp("Bits per second, such as 2500k or 4M.", valueName: "bitrate"))
  public var bitrate: String?

  @Option(
    help: ArgumentHelp("auto, a codec such as vp8, or NAME[:PRESET].", valueName: "encoder"))
  public var encoder: String?

  @Option(
    help: ArgumentHelp(
      "Maximum viewers of the streams, and of each URL, up to 32.", valueName: "n"))
  public var viewers = 8

  @OptionGroup(title: "WHEP access") public var access: WHIPAccessOptions

  private static let remoteScheme = "whep:"
  private static let maximumRemotes = 8

  public init() {}

  public func validate() throws {
    guard (1...32).contains(viewers) else {
      throw ValidationError("--viewers \(viewers): use 1 to 32")
    }
    guard remoteTexts.count <= Self.maximumRemotes else {
      throw ValidationError("whep:URL: name at most \(Self.maximumRemotes)")
    }
    guard Set(remoteTexts).count == remoteTexts.count else {
      throw ValidationError("whep:URL: name each address once")
    }
    if remoteTexts.isEmpty, !access.optionArguments.isEmpty {
      throw ValidationError("\(access.optionArguments[0]): it is for whep:URL, which is missing")
    }
  }

  /// The streams of this machine; none if only other servers are named.
  public func streams() throws(UsageError) -> [StreamName] {
    let texts = streamTexts.filter { !$0.hasPrefix(Self.remoteScheme) }
    return texts.isEmpty && !streamTexts.isEmpty
      ? [] : try StreamName.list(texts, named: "STREAM")
  }

  /// The addresses of the WHEP endpoints on other servers.
  public var remoteTexts: [String] {
    streamTexts.filter { $0.hasPrefix(Self.remoteScheme) }
      .map { String($0.dropFirst(Self.remoteScheme.count)) }
  }

  /// The options without secrets, for a log.
  public var logged: [String] { streamTexts.map(LoggedText.address) + optionArguments }
}
