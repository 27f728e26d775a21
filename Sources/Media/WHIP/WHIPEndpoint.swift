import CredentialStore
import Platform

/// The address of an endpoint, the bearer token for it, and whether plain HTTP is allowed.
public struct WHIPEndpoint: Sendable {
  public let address: WebAddress
  let bearer: BearerToken?
  private let allowsPlainHTTP: Bool
  private let staysAtOrigin: Bool

  /// - Parameters:
  ///   - allowsPlainHTTP: allows unencrypted HTTP to other machines.
  ///   - staysAtOrigin: whether redirects and sessions must have this address's origin.
  public init(
    _ text: String, bearer: BearerToken? = nil, allowsPlainHTTP: Bool = false,
    staysAtOrigin: Bool = false
  ) throws(WHIPError) {
    guard let address = WebAddress(text) else {
      throw .malformedAddress(text.withoutSecrets.shortened)
    }
    self.address = address
    self.bearer = bearer
    self.allowsPlainHTTP = allowsPlainHTTP
    self.staysAtOrigin = staysAtOrigin
    guard mayUse(address) else { throw .insecure(address) }
  }

  /// Whether requests of a session may go to an address of the server's choice.
  func covers(_ address: WebAddress) -> Bool {
    !staysAtOrigin || address.hasSameOrigin(as: self.address)
  }

  func mayUse(_ address: WebAddress) -> Bool {
    address.isEncrypted || address.isLoopback || allowsPlainHTTP
  }

  /// A text from the server, safe to show: without the secrets that were sent to it, short, and on
  /// one line.
  func shown(_ text: String) -> String { address.redacted(in: withoutBearer(text)).shortened }

  /// An address that the server named, or this endpoint's own if that one contains a secret.
  func shown(_ address: WebAddress) -> WebAddress {
    let text = "\(address)"
    return withoutBearer(text) == text ? address : self.address
  }

  private func withoutBearer(_ text: String) -> String { bearer?.redacted(in: text) ?? text }
}

/// The token that authorises an upload (RFC 6750), in protected memory. It has no text form.
public final class BearerToken: Sendable {
  private let secret: SecretBytes

  /// - Returns: nil for an empty secret, which means no token.
  /// - Throws: ``WHIPError/malformedBearer`` if a header cannot carry it.
  public init?(_ secret: consuming SecretBytes) throws(WHIPError) {
    if secret.byteCount == 0 { return nil }
    let isVisible = secret.withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      (0..<bytes.byteCount).allSatisfy {
        (0x21...0x7e).contains(unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self))
      }
    }
    guard isVisible else { throw .malformedBearer }
    self.secret = secret
  }

  func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result { secret.withBytes(body) }

  /// A text with every occurrence of this token, in capitals or not, replaced by “…”, for texts
  /// that may echo it.
  func redacted(in text: String) -> String {
    secret.withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      let token = (0..<bytes.byteCount).map {
        Self.lowercased(unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self))
      }
      var rest = Array(text.utf8)[...]
      var result: [UInt8] = []
      while let byte = rest.first {
        if rest.starts(with: token, by: { Self.lowercased($0) == $1 }) {
          result += Array("…".utf8)
          rest = rest.dropFirst(token.count)
        } else {
          result.append(byte)
          rest = rest.dropFirst()
        }
      }
      return String(decoding: result, as: UTF8.self)
    }
  }

  /// A byte of ASCII text in lower case: host names and media types are shown so.
  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
