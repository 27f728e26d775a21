import ArgumentParser

/// The options for access to a WHIP endpoint. None takes a secret, because every process on the
/// machine can read the arguments of another.
public struct WHIPAccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Credential that contains the bearer token.",
      discussion: "Opened in the role of --role (default: extension).",
      valueName: "service/account"))
  public var credential: String?

  @Option(help: ArgumentHelp("Read the bearer token from this file descriptor.", valueName: "fd"))
  public var bearerFd: Int32?

  @OptionGroup public var trust: WHIPTrustOptions

  public init() {}

  public func validate() throws {
    if credential != nil, bearerFd != nil {
      throw ValidationError("--credential and --bearer-fd: use only one of them")
    }
    if let bearerFd, bearerFd < 0 {
      throw ValidationError("--bearer-fd \(bearerFd): use an open descriptor, such as 3")
    }
  }
}

/// Which servers are trusted. They have no secrets, so a manifest can contain them.
public struct WHIPTrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this PEM file, not the system's.", valueName: "file"))
  public var ca: String?

  @Flag(help: "Allow unencrypted http: beyond this machine.")
  public var allowHttp = false

  public init() {}
}

/// The options for the network path and the encoding of a WHIP upload.
public struct WHIPMediaOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "STUN server that finds our public address: stun:HOST[:PORT].", valueName: "server"))
  public var stun: String?

  @Option(
    help: ArgumentHelp(
      "Relay: turn:HOST[:PORT][?transport=udp|tcp] or turns:HOST.", valueName: "server"))
  public var turn: [String] = []

  @Option(
    help: ArgumentHelp(
      "Credential for the relays (account: user, secret: password).",
      valueName: "service/account"))
  public var turnCredential: String?

  @Flag(help: "Send through a relay only.")
  public var relayOnly = false

  @Option(help: ArgumentHelp("H.264 profile: baseline or high.", valueName: "profile"))
  public var profile = Self.usualProfile

  @Flag(help: "Send three sizes, if the endpoint takes them.")
  public var simulcast = false

  @Option(
    help: ArgumentHelp(
      "Lower limit of the adapted bitrate (default: 150k).", valueName: "bitrate"))
  public var leastBitrate: String?

  public static let usualProfile = "baseline"

  public init() {}
}

/// The options of `framebus whip probe` and the program behind it.
public struct WHIPProbeOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Endpoint, such as https://HOST/PATH.", valueName: "url"))
  public var address: String
  @OptionGroup public var access: WHIPAccessOptions

  public init() {}
}
