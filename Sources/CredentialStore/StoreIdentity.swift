import AppGroup

/// What names a store to others, and is no secret: the public key that credentials are exported
/// for, and the one by which an import shows who exported it.
public struct StoreIdentity: Hashable, Sendable, CustomStringConvertible {
  let opening: [UInt8]
  let signing: [UInt8]

  private static let prefix = "framebus-store-"
  /// Enough to tell a slip of the hand; a forger needs no slip.
  private static let checkBytes = 4

  init(_ keys: StoreIndex.PublicKeys) {
    opening = keys.opening
    signing = keys.signing
  }

  /// - Throws: ``CredentialError/invalid(_:)`` if the text is not one that ``description`` made.
  public init(_ text: String) throws(CredentialError) {
    let keyBytes = Sodium.publicKeyBytes
    guard text.hasPrefix(Self.prefix),
      let bytes = bytes(ofHexadecimal: text.dropFirst(Self.prefix.count)),
      bytes.count == 2 * keyBytes + Self.checkBytes,
      bytes.suffix(Self.checkBytes)
        == Sodium.hash(Array(bytes.dropLast(Self.checkBytes))).prefix(Self.checkBytes)
    else {
      throw .invalid(
        "this is not a store's identity, or not all of it; print it with"
          + " `framebus credential identity` where the store is")
    }
    opening = Array(bytes[..<keyBytes])
    signing = Array(bytes[keyBytes..<(2 * keyBytes)])
  }

  public var description: String {
    let keys = opening + signing
    return Self.prefix + hexadecimal(keys + Sodium.hash(keys).prefix(Self.checkBytes))
  }
}

/// - Returns: nil unless there are two digits, in small letters, for each byte.
private func bytes(ofHexadecimal text: Substring) -> [UInt8]? {
  let digits = Array(text.utf8)
  guard digits.count.isMultiple(of: 2) else { return nil }
  var bytes: [UInt8] = []
  for place in stride(from: 0, to: digits.count, by: 2) {
    guard let high = value(ofDigit: digits[place]), let low = value(ofDigit: digits[place + 1])
    else { return nil }
    bytes.append(high << 4 | low)
  }
  return bytes
}

private func value(ofDigit digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  default: nil
  }
}
