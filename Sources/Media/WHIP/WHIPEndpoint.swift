import CredentialStore
import Platform

/// Where to upload to, as whom, and what is safe enough.
public struct WHIPEndpoint: Sendable {
  public let address: WebAddress
  let bearer: BearerToken?
  private let allowsPlainHTTP: Bool

  /// - Parameter allowsPlainHTTP: without encryption, also beyond this machine.
  public init(
    _ text: String, bearer: BearerToken? = nil, allowsPlainHTTP: Bool = false
  ) throws(WHIPError) {
    guard let address = WebAddress(text) else { throw .malformedAddress(text.shortened) }
    self.address = address
    self.bearer = bearer
    self.allowsPlainHTTP = allowsPlainHTTP
    guard mayUse(address) else { throw .insecure(address) }
  }

  func mayUse(_ address: WebAddress) -> Bool {
    address.isEncrypted || address.isLoopback || allowsPlainHTTP
  }
}

/// The token that says who uploads (RFC 6750), in memory that nobody else sees. It has no text
/// form.
public final class BearerToken: Sendable {
  private let secret: SecretBytes

  /// - Returns: nil for an empty one, which means none.
  /// - Throws: ``WHIPError/malformedBearer`` if it cannot stand in a header.
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

  /// A text in which this token, should somebody have echoed it, cannot be read.
  func blanked(in text: String) -> String {
    secret.withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      let token = (0..<bytes.byteCount).map {
        unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
      }
      var rest = Array(text.utf8)[...]
      var result: [UInt8] = []
      while let byte = rest.first {
        if rest.starts(with: token) {
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
}
