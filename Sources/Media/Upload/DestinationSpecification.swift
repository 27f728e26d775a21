/// A destination as a user names it: `SCHEME` or `SCHEME:ADDRESS`.
public struct DestinationSpecification: Hashable, Sendable, CustomStringConvertible {
  /// The word before the first colon, such as `file`.
  public let scheme: String
  /// The text after the first colon, such as a path; empty if there is no colon.
  public let address: String

  public init(_ text: String) throws(DestinationError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let scheme = parts.first, !scheme.isEmpty,
      scheme.allSatisfy({ ("a"..."z").contains($0) || ("0"..."9").contains($0) })
    else { throw .malformed(text) }
    self.scheme = String(scheme)
    address = parts.count > 1 ? String(parts[1]) : ""
  }

  public var description: String { address.isEmpty ? scheme : "\(scheme):\(address)" }
}

extension DestinationSpecification {
  /// The schemes of this product's destinations; a build without media has only `null`.
  package static let schemes = ["file", "png", "whip", "srt", "rtmp", "rtmps", "hls", "null"]
}

/// The destinations in this build.
public struct DestinationCatalog: Sendable {
  private let makers: [any DestinationMaker]

  public init(_ makers: [any DestinationMaker]) { self.makers = makers }

  /// Every form of destination that this build accepts.
  public var forms: [String] { makers.flatMap(\.forms) }

  public func make(
    _ text: String, encoder: EncoderSettings = EncoderSettings()
  ) throws(DestinationError) -> any Destination {
    let specification: DestinationSpecification
    do {
      specification = try DestinationSpecification(text)
    } catch {
      throw .unknownDestination(text, known: forms)
    }
    guard let maker = makers.first(where: { $0.scheme == specification.scheme }) else {
      throw .unknownDestination(text, known: forms)
    }
    return try maker.make(specification, encoder: encoder)
  }
}
