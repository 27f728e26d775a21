import ArgumentParser
import Platform

/// The options of `framebus bridge` and `framebus-bridge`.
public struct BridgeOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Server: nats://HOST[:PORT] or tls://HOST[:PORT].", valueName: "server"))
  public var server: String

  @Option(
    help: ArgumentHelp(
      "Name of this machine in the group (default: the host's).", valueName: "name"))
  public var machine: String?

  @Option(
    help: ArgumentHelp(
      "Credential that proves who connects.",
      discussion: """
        A password, with its user as the account; the seed of an NKey, with the public key as the \
        account; the text of a .creds file with a JWT and its seed; or a token, with the account \
        “token”.
        """,
      valueName: "service/account"))
  public var credential: String?

  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "Trust the certificates of FILE instead of the system's.", valueName: "file"))
  public var caText: String?

  @Flag(help: "Do not encrypt, even to another machine.")
  public var plain = false

  public init() {}

  public func validate() throws {
    do throws(UsageError) { _ = try address() } catch { throw ValidationError("\(error)") }
  }

  /// The server's address without secrets.
  public struct Address: Hashable, Sendable {
    public let host: String
    public let port: Int
    public let isSecure: Bool
  }

  /// Encryption is the rule: only a server on this machine is reached without.
  public func address() throws(UsageError) -> Address {
    let isTLS = server.hasPrefix("tls://")
    guard isTLS || server.hasPrefix("nats://"), let authority = serverAuthority else {
      throw UsageError(
        "“\(server.plain)” is not a server: use nats://HOST[:PORT] or tls://HOST[:PORT]; a password"
          + " belongs into the credential store, for --credential")
    }
    if isTLS && plain { throw UsageError("tls:// and --plain exclude each other; use one") }
    let isLocal = Authority.isLoopback(authority.host)
    return Address(
      host: authority.host, port: authority.port ?? 4222,
      isSecure: isTLS || (!plain && !isLocal))
  }

  private var serverAuthority: Authority? {
    let rest = server.drop { $0 != "/" }.dropFirst(2)
    return rest.contains("@") || rest.contains("/") ? nil : Authority(rest)
  }
}

/// What `framebus` adds for `framebus-bridge`.
public struct BridgeProgramOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Descriptor with the secret.", visibility: .hidden))
  public var secretFd: Int32?

  @Flag(help: ArgumentHelp("Write the log of all machines.", visibility: .hidden))
  public var readLog = false

  @Flag(help: ArgumentHelp("Go on with new lines.", visibility: .hidden))
  public var follow = false

  @Option(help: ArgumentHelp("Begin at this time in nanoseconds.", visibility: .hidden))
  public var since: UInt64 = 0

  public init() {}
}
