/// What a bridge may carry between this group and the same group on other machines, by the group's
/// manifest: its table `[bridge]`. Without the table, nothing crosses.
///
/// Credentials and semaphores are not in it, and a manifest that names them is refused.
public struct BridgePolicy: Hashable, Sendable {
  /// Exact names of notifications.
  public var notifications: Set<String> = []
  /// Names of suites of settings.
  public var suites: Set<String> = []
  /// Names of streams that other machines may list, each with the addresses that serve it.
  public var streams: [String: [String]] = [:]
  /// Whether lines of the log leave this machine.
  public var sendsLog = false

  static let maximumNotifications = 256
  static let maximumSuites = 64
  static let maximumStreams = 64
  static let maximumAddresses = 4
  static let maximumAddressBytes = 512
  /// Leaves room for the suites that hold the bridge's own state.
  static let maximumSuiteBytes = 100

  init() {}

  /// Whether nothing crosses.
  public var isEmpty: Bool { self == BridgePolicy() }
}

extension AppGroup {
  /// The policy of the present manifest; empty if the manifest is no longer readable. Makes one
  /// system call. A changed manifest is read again.
  package var bridgePolicy: BridgePolicy { membership.manifest()?.bridge ?? BridgePolicy() }
}

extension BridgePolicy {
  /// Parses the table `[bridge]` of a manifest.
  init(parsing table: [String: TOMLValue]) throws(ManifestError) {
    self.init()
    for (key, value) in table.sorted(by: { $0.value.line < $1.value.line }) {
      switch key {
      case "notifications":
        notifications = try Self.names(value, key, limit: Self.maximumNotifications) { name in
          if ["self.", "user.uid.", NotificationPolicy.systemPrefix].contains(where: {
            begins(name, with: $0)
          }) {
            return "is a name of one process, one user or FrameBus itself, which never crosses"
          }
          let isName = (1...512).contains(name.utf8.count) && !name.utf8.contains(0)
          return isName ? nil : "is not the name of a notification, of 1 to 512 bytes"
        }
      case "suites":
        suites = try Self.names(value, key, limit: Self.maximumSuites) { name in
          if begins(name, with: NotificationPolicy.systemPrefix) {
            return "is a suite of FrameBus itself, which never crosses"
          }
          let isShort = (1...Self.maximumSuiteBytes).contains(name.utf8.count)
          return isShort
            ? nil : "is not the name of a suite, of 1 to \(Self.maximumSuiteBytes) bytes"
        }
      case "log":
        guard let isSent = value.boolean else {
          throw ManifestError(line: value.line, reason: "bridge.log is not true or false")
        }
        sendsLog = isSent
      case "streams": streams = try Self.streams(value)
      default: throw ManifestError(line: value.line, reason: Self.refusal(of: key))
      }
    }
  }

  private static func refusal(of key: String) -> String {
    switch key {
    case "credentials":
      "credentials never cross to another machine: they are sealed for the roles of this one; set"
        + " them there too, with `framebus credential set`"
    case "semaphores":
      "semaphores never cross to another machine: the kernel here cannot see a holder there die;"
        + " use a notification or a setting instead"
    default:
      "unknown key \(printable(key)) in bridge; use notifications, suites, streams or log"
    }
  }

  private static func names(
    _ value: TOMLValue, _ key: String, limit: Int, refusal: (String) -> String?
  ) throws(ManifestError) -> Set<String> {
    guard let array = value.array else {
      throw ManifestError(line: value.line, reason: "bridge.\(key) is not a list of names")
    }
    if array.count > limit {
      throw ManifestError(line: value.line, reason: "bridge.\(key) has more than \(limit) names")
    }
    var names: Set<String> = []
    for element in array {
      guard let name = element.string else {
        throw ManifestError(
          line: element.line, reason: "bridge.\(key) has an element that is not a name")
      }
      if let why = refusal(name) {
        throw ManifestError(
          line: element.line, reason: "bridge.\(key) has \(printable(name)), which \(why)")
      }
      names.insert(name)
    }
    return names
  }

  /// Parses the table `[bridge.streams]`: for each stream, a list of addresses.
  private static func streams(_ value: TOMLValue) throws(ManifestError) -> [String: [String]] {
    guard let table = value.table, table.count <= maximumStreams else {
      throw ManifestError(
        line: value.line,
        reason: "bridge.streams is not a table of at most \(maximumStreams) streams")
    }
    var streams: [String: [String]] = [:]
    for (name, value) in table {
      if NameRule(brokenBy: name) != nil {
        throw ManifestError(
          line: value.line, reason: "bridge.streams has \(printable(name)), not a stream's name")
      }
      let texts = value.array?.map(\.string) ?? [nil]
      let addresses = texts.compactMap { $0 }
      guard addresses.count == texts.count, addresses.count <= maximumAddresses,
        addresses.allSatisfy(isAddress)
      else {
        throw ManifestError(
          line: value.line,
          reason: "bridge.streams.\(name) is not a list of at most \(maximumAddresses) addresses;"
            + " use srt://HOST:PORT or whep:https://HOST/PATH")
      }
      streams[name] = addresses
    }
    return streams
  }

  /// Whether another machine can capture from the address. Also used on addresses that other
  /// machines announce.
  package static func isAddress(_ text: String) -> Bool {
    let isKnown = ["srt://", "whep:https://", "whep:http://"].contains { begins(text, with: $0) }
    return isKnown && text.utf8.count <= maximumAddressBytes
      && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// This policy as a part of a manifest's text.
  var text: String {
    if isEmpty { return "" }
    func list(_ names: [String]) -> String { "[\(names.map(quoted).joined(separator: ", "))]" }
    var text = "\n[bridge]\n"
    if !notifications.isEmpty { text += "notifications = \(list(notifications.sorted()))\n" }
    if !suites.isEmpty { text += "suites = \(list(suites.sorted()))\n" }
    if sendsLog { text += "log = true\n" }
    if streams.isEmpty { return text }
    text += "\n[bridge.streams]\n"
    for (name, addresses) in streams.sorted(by: { $0.key < $1.key }) {
      text += "\(quoted(name)) = \(list(addresses))\n"
    }
    return text
  }
}
