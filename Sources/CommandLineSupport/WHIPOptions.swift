import ArgumentParser

/// How a WHIP endpoint is reached, and as whom. No option takes a secret: arguments can be seen by
/// every process of the machine.
public struct WHIPAccessOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The credential that is the bearer; opened in the role extension, or in that of --role.",
      valueName: "service/account"))
  public var credential: String?

  @Option(help: ArgumentHelp("Read the bearer from this file descriptor.", valueName: "fd"))
  public var bearerFd: Int32?

  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this file (PEM) instead of the system's.", valueName: "file"))
  public var ca: String?

  @Flag(help: "Allow http:, without encryption, beyond this machine.")
  public var allowHttp = false

  public init() {}

  public func validate() throws {
    if credential != nil, bearerFd != nil {
      throw ValidationError("--credential and --bearer-fd: name one of them")
    }
    if let bearerFd, bearerFd < 0 {
      throw ValidationError("--bearer-fd \(bearerFd): use an open descriptor, such as 3")
    }
  }

  public var arguments: [String] {
    [
      credential.map { "--credential=\($0)" }, bearerFd.map { "--bearer-fd=\($0)" },
      ca.map { "--ca=\($0)" }, allowHttp ? "--allow-http" : nil,
    ].compactMap(\.self)
  }
}

/// How the media of a WHIP upload finds its way, and what it is like.
public struct WHIPMediaOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A server that tells us our address, such as stun:HOST[:PORT].", valueName: "server"))
  public var stun: String?

  @Option(
    help: ArgumentHelp(
      "A relay, such as turn:HOST[:PORT][?transport=udp|tcp] or turns:HOST.", valueName: "server"))
  public var turn: [String] = []

  @Option(
    help: ArgumentHelp(
      "The credential of the relays: the account is the user, the secret the password.",
      valueName: "service/account"))
  public var turnCredential: String?

  @Flag(help: "Send by a relay only.")
  public var relayOnly = false

  @Option(help: ArgumentHelp("H.264: baseline or high.", valueName: "profile"))
  public var profile = "baseline"

  @Option(
    help: ArgumentHelp(
      "The bitrate is not adapted below this (default: 150k).", valueName: "bitrate"))
  public var leastBitrate: String?

  public init() {}

  public var arguments: [String] {
    [
      stun.map { "--stun=\($0)" }, turnCredential.map { "--turn-credential=\($0)" },
      relayOnly ? "--relay-only" : nil, "--profile=\(profile)",
      leastBitrate.map { "--least-bitrate=\($0)" },
    ].compactMap(\.self) + turn.map { "--turn=\($0)" }
  }
}

/// The options of `framebus whip probe` and of the program behind it.
public struct WHIPProbeOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("Of the endpoint: https://HOST/PATH.", valueName: "url"))
  public var address: String
  @OptionGroup public var access: WHIPAccessOptions

  public init() {}

  public var arguments: [String] { [address] + access.arguments }
}
