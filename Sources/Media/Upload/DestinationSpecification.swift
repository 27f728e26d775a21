/// A destination as a user names it: `SCHEME` or `SCHEME:ADDRESS`.
public struct DestinationSpecification: Hashable, Sendable, CustomStringConvertible {
  /// The word before the first colon, such as `file`.
  public let scheme: String
  /// The text after the first colon, such as a path; empty if there is no colon.
  public let address: String
  /// Whether it is `whip` alone: its address is the setting `whipURL` of the group.
  public let followsSetting: Bool

  public init(_ text: String) throws(DestinationError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let scheme = parts.first, !scheme.isEmpty,
      scheme.allSatisfy({ ("a"..."z").contains($0) || ("0"..."9").contains($0) })
    else { throw .malformed(text) }
    self.scheme = String(scheme)
    address = parts.count > 1 ? String(parts[1]) : ""
    followsSetting = text == DestinationKind.whip.scheme
  }

  public var description: String { address.isEmpty ? scheme : "\(scheme):\(address)" }

  private var isDirectory: Bool { kind?.needs == .directory }

  /// The address of a file or a directory, without the options that may follow a directory's `?`.
  /// In the name of a directory, `%3F` is a question mark and `%25` a percent sign.
  public var path: String {
    isDirectory ? Self.decoded(address.prefix { $0 != "?" }) : address
  }

  /// The Video4Linux device that is its address; nil for another kind.
  public var devicePath: String? {
    kind?.needs == .camera && address.hasPrefix("/") ? address : nil
  }

  /// What follows a directory, such as `?small=360`; empty without options.
  public var pathOptions: String { isDirectory ? String(address.drop { $0 != "?" }) : "" }

  private static let codes: [String: Character] = ["%3F": "?", "%3f": "?", "%25": "%"]

  private static func decoded(_ text: Substring) -> String {
    var (path, rest) = ("", text)
    while let first = rest.first {
      let code = codes[String(rest.prefix(3))]
      path.append(code ?? first)
      rest = rest.dropFirst(code == nil ? 1 : 3)
    }
    return path
  }

  /// The same destination at another path.
  package func at(_ path: String) -> String {
    if !isDirectory { return "\(scheme):\(path)" }
    var (text, rest) = ("", path[...])
    while let first = rest.first {
      let isCode = first == "?" || Self.codes[String(rest.prefix(3))] != nil
      text += isCode ? (first == "?" ? "%3F" : "%25") : String(first)
      rest = rest.dropFirst()
    }
    return "\(scheme):\(text)\(pathOptions)"
  }

  /// Its row; nil without one, or if only one of the two has an address.
  public var kind: DestinationKind? {
    DestinationKind.all.first {
      $0.scheme == scheme && ($0.takesAddress == !address.isEmpty || followsSetting)
    }
  }
}

/// The destinations in this build.
public struct DestinationCatalog: Sendable {
  private let makers: [DestinationMaker]

  public init(_ makers: [DestinationMaker]) { self.makers = makers }

  /// The kinds that this build makes.
  public var kinds: [DestinationKind] { makers.flatMap(\.kinds) }

  public func make(
    _ text: String, _ setup: DestinationSetup = DestinationSetup()
  ) throws(DestinationError) -> any Destination {
    guard let named = try? DestinationSpecification(text),
      let maker = makers.first(where: { $0.kinds.contains { $0.scheme == named.scheme } })
    else { throw .unknownDestination(text, known: kinds.flatMap(\.forms)) }
    guard named.kind != nil else { throw .malformed(text) }
    return try maker.make(named, setup)
  }
}
