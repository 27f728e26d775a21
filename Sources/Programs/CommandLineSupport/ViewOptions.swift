import ArgumentParser
import FrameBus
import Platform

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
      discussion: "\(passedSocket) means the socket that a socket unit passes.",
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

  @Option(
    help: ArgumentHelp(
      "Let viewers switch to NAME, or NAME*; repeatable.", valueName: "name"))
  public var also: [String] = []

  @Option(
    help: ArgumentHelp(
      "Let pages of this origin embed the page; repeatable.", valueName: "origin"))
  public var embedIn: [String] = []

  @Option(
    help: ArgumentHelp(
      "Address at which a reverse proxy serves the page.", valueName: "url"))
  public var publicUrl: String?

  @Option(
    help: ArgumentHelp(
      "Credential with the page's token (default: a random token).",
      valueName: "service/account"))
  public var token: String?

  @Flag(help: "Draw the address for other machines as a QR code.")
  public var qr = false

  @OptionGroup(title: "WHEP access") public var access: WHIPAccessOptions

  /// The value of `--listen` for a socket that the service manager passes.
  public static let passedSocket = "systemd"
  private static let remoteScheme = "whep:"
  private static let maximumRemotes = 8

  public init() {}

  public func validate() throws {
    guard (1...32).contains(viewers) else {
      throw ValidationError("--viewers \(viewers): use 1 to 32")
    }
    try checkPage()
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

  private func checkPage() throws {
    for pattern in also {
      let name = pattern.hasSuffix("*") ? pattern.dropLast() + "x" : pattern[...]
      do { _ = try StreamName(String(name)) } catch {
        throw ValidationError("--also \(pattern): \(error)")
      }
    }
    if !also.isEmpty, !streamTexts.isEmpty, remoteTexts.count == streamTexts.count {
      throw ValidationError("--also: viewers switch from a stream; name one, such as screen")
    }
    for origin in embedIn where WebAddress(server: origin) == nil {
      throw ValidationError(
        "--embed-in \(origin.withoutSecrets): use an origin, such as https://example.com")
    }
    if publicUrl != nil, publicAddress == nil {
      throw ValidationError(
        "--public-url: use https://HOST[:PORT]/PATH/, such as https://example.com/live/")
    }
  }

  /// The streams of this machine; none if only other servers are named.
  public func streams() throws(UsageError) -> [StreamName] {
    let texts = streamTexts.filter { !$0.hasPrefix(Self.remoteScheme) }
    return texts.isEmpty && !streamTexts.isEmpty
      ? [] : try StreamName.list(texts, named: "STREAM")
  }

  /// The address of `--public-url`; nil without one, or if it is not a page's.
  public var publicAddress: WebAddress? {
    guard let publicUrl, let address = WebAddress(publicUrl), address.path.hasSuffix("/"),
      !address.path.contains("?")
    else { return nil }
    return address
  }

  /// The addresses of the WHEP endpoints on other servers.
  public var remoteTexts: [String] {
    streamTexts.filter { $0.hasPrefix(Self.remoteScheme) }
      .map { String($0.dropFirst(Self.remoteScheme.count)) }
  }

  /// The options without secrets, for a log.
  public var logged: [String] {
    var shown = self
    shown.publicUrl = publicAddress.map { "\($0)" }
    return streamTexts.map(LoggedText.address) + shown.optionArguments
  }
}
