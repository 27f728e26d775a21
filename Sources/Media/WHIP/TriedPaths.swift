/// The addresses between which a media connection was tried, for the error that none works.
public struct TriedPaths: Hashable, Sendable {
  /// The most addresses of one side that a message lists.
  private static let maximumShown = 6

  /// The addresses of this machine and of its relays, in the order in which they were found.
  public private(set) var local: [String] = []
  /// The addresses that the endpoint's answer names.
  public private(set) var remote: [String] = []
  /// The relays that were asked for an address.
  public private(set) var relays: [ICEServer] = []
  private var hasRelayed = false

  public init() {}

  /// - Parameter answer: the answer, whose candidates have literal addresses.
  mutating func takeRemote(of answer: String) {
    for line in answer.split(whereSeparator: \.isNewline) where line.hasPrefix("a=candidate:") {
      Self.add(line, to: &remote)
    }
  }

  mutating func add(_ candidate: ICECandidate) {
    if Self.add(candidate.text, to: &local) == "relay" { hasRelayed = true }
  }

  mutating func add(_ server: ICEServer) { if server.kind != .stun { relays.append(server) } }

  /// Adds a candidate's address (RFC 8839, section 5.1).
  /// - Returns: the candidate's type.
  @discardableResult
  private static func add(_ text: some StringProtocol, to list: inout [String]) -> String? {
    let words = text.split(separator: " ")
    guard words.count >= 8 else { return nil }
    let shown = String(words[4]) + (words[7] == "relay" ? " (relay)" : "")
    if !list.contains(shown) { list.append(shown) }
    return String(words[7])
  }

  /// What to do if none of them worked.
  var advice: String {
    if remote.isEmpty {
      return "configure the server to name an address that this machine reaches; many servers name "
        + "no loopback address"
    }
    if !hasRelayed, let relay = relays.first {
      return "\(relay) gave no address for the media: check its user and password "
        + "(--turn-credential), and that it runs"
    }
    if hasRelayed { return "check that the server and the relay reach each other by UDP" }
    return "check that UDP is not blocked, or name a relay with --turn"
  }
}

extension TriedPaths: CustomStringConvertible {
  public var description: String {
    let from = local.isEmpty ? "from no address" : "from " + Self.list(local)
    return "tried \(from) "
      + (remote.isEmpty ? "to nowhere, as its answer names no address" : "to " + Self.list(remote))
  }

  private static func list(_ addresses: [String]) -> String {
    let rest = addresses.count - maximumShown
    return addresses.prefix(maximumShown).joined(separator: ", ").plain
      + (rest > 0 ? " and \(rest) more" : "")
  }
}
