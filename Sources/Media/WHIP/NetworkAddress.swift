/// Network addresses in text form.
public enum NetworkAddress {
  /// Whether a text is an IPv4 or IPv6 address, not a name that another party could point
  /// elsewhere.
  public static func isLiteral(_ text: some StringProtocol) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let isShort =
      parts.count == 4
      && parts.allSatisfy { $0.allSatisfy(\.isASCII) && $0.first != "+" && UInt8($0) != nil }
    return isShort
      || text.contains(":") && text.utf8.count <= 45
        && text.allSatisfy { $0 == ":" || $0 == "." || ($0.isASCII && $0.isHexDigit) }
  }
}
