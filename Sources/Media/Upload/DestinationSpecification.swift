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

  /// The address of a file or a directory, without the options that may follow a directory's `?`.
  public var path: String {
    kind?.needs == .directory ? String(address.prefix { $0 != "?" }) : address
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
