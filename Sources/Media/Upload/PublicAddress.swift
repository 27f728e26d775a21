/// The address of a network peer, without secrets: other processes can see arguments, and
/// messages appear in logs.
package struct PublicAddress: Hashable, Sendable {
  package let scheme: String
  package let text: String
  /// The number after the host; nil if there is none, or it is not one of a port.
  package let port: UInt16?
  /// Starts at the first slash or question mark after the host; many servers expect a key in it.
  package let path: String

  /// - Parameter specification: `SCHEME://HOST…`, of which the part before the first colon is the
  ///   destination's own scheme.
  package init(_ specification: DestinationSpecification) throws(DestinationError) {
    let (scheme, address) = (specification.scheme, specification.address)
    guard specification.kind?.needs == .network, address.hasPrefix("//"), address.count > 2,
      address.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
    else { throw .malformed(specification.description) }
    let host = address.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
    guard !host.isEmpty else { throw .malformed(specification.description) }
    // USER:PASSWORD@HOST
    guard !host.contains("@") else { throw .secretInAddress(scheme) }
    let colon = host.lastIndex { $0 == ":" || $0 == "]" }.map { host[$0...] } ?? ""
    port = colon.hasPrefix(":") ? UInt16(colon.dropFirst()).flatMap { $0 > 0 ? $0 : nil } : nil
    self.scheme = scheme
    text = scheme + ":" + address
    path = String(address.dropFirst(2 + host.count))
  }
}
