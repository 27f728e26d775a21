import AppGroup

/// The public identity of a store: the public key for which credentials are exported, and the one
/// that verifies the store's exports. It is not secret.
public struct StoreIdentity: Hashable, Sendable, CustomStringConvertible {
  let opening: [UInt8]
  let signing: [UInt8]

  private static let prefix = "framebus-store-"
  /// Enough to detect a typing error. It does not protect against forgery.
  private static let checkBytes = 4

  init(_ keys: IndexHead.PublicKeys) {
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
        "the identity is malformed or incomplete; print it in the other group with"
          + " `framebus credential identity`")
    }
    opening = Array(bytes[..<keyBytes])
    signing = Array(bytes[keyBytes..<(2 * keyBytes)])
  }

  public var description: String {
    let keys = opening + signing
    return Self.prefix + hexadecimal(keys + Sodium.hash(keys).prefix(Self.checkBytes))
  }
}

/// - Returns: nil unless there are two lowercase digits for each byte.
func bytes(ofHexadecimal text: Substring) -> [UInt8]? {
  let digits = Array(text.utf8)
  guard digits.count.isMultiple(of: 2) else { return nil }
  var bytes: [UInt8] = []
  for index in stride(from: 0, to: digits.count, by: 2) {
    guard let high = value(ofDigit: digits[index]), let low = value(ofDigit: digits[index + 1])
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
