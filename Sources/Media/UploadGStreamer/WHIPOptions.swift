#if Media
  import WHIP

  /// The options of a WHIP upload besides its address and encoder.
  public struct WHIPOptions: Sendable {
    public var bearer: BearerToken?
    public var allowsPlainHTTP = false
    /// Whether the server may not redirect to another one (scheme, host, port).
    public var staysAtOrigin = false
    /// A file of certificates to trust instead of the system's.
    public var certificates: String?
    public var servers: [ICEServer] = []
    /// Sends only through relays, so that the peer learns no address of this machine.
    public var usesRelaysOnly = false
    public var profile = H264Profile.baseline
    /// Sends the pictures in three sizes (simulcast, RFC 8853), if the endpoint takes them.
    public var hasLayers = false
    /// The lower bound of the adaptive bitrate.
    public var leastBitsPerSecond = 150_000
    public var timeouts = WHIPConnection.Timeouts()
    /// How long to try to connect for the first time, or again after a working connection is lost,
    /// unless the cause is permanent.
    public var reconnectsFor: Duration = .seconds(120)
    /// Receives events, on any thread.
    public var report: @Sendable (WHIPReport) -> Void = { _ in }
    /// Receives libcurl's debug output; see `CurlClient`.
    public var listener: (@Sendable (UInt32, String) -> Void)?

    public init() {}
  }

  public enum WHIPReport: Sendable {
    case connection(WHIPConnection.Event)
    /// The endpoint refuses the first codec; the next attempt, at once, is made with the other.
    case otherCodec(String, instead: String)
    /// The endpoint takes no simulcast; the next attempt, at once, is made with one size.
    case oneSize
    /// The connection failed or is lost; the next attempt begins after this time.
    case reconnecting(WHIPError, after: Duration)
    /// The address to which it was moved does not work; it sends to the former one again.
    case notMoved(WHIPError)
  }
#endif
