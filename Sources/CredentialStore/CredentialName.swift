import Platform

/// The name of a credential: a service and an account, such as `whip.example.com` and `studio`.
public struct CredentialName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The service, such as a host name.
  public let service: String
  /// The account at the service.
  public let account: String

  /// Longest service and account, in bytes of UTF-8.
  public static let maximumBytes = 128

  /// - Throws: ``CredentialError/invalid(_:)`` unless both have 1…128 bytes and no control
  ///   characters.
  public init(service: String, account: String) throws(CredentialError) {
    for (what, text) in [("service", service), ("account", account)] {
      guard (1...Self.maximumBytes).contains(text.utf8.count), text.isPlain else {
        throw .invalid(
          "the \(what) of a credential has 1 to \(Self.maximumBytes) bytes and no control"
            + " characters")
      }
    }
    self.service = service
    self.account = account
  }

  /// - Parameter service: without control characters, as `account`.
  init(plainService service: String, account: String) throws(FormatError) {
    let bytes = 1...Self.maximumBytes
    guard bytes.contains(service.utf8.count), bytes.contains(account.utf8.count) else {
      throw .wrong
    }
    self.service = service
    self.account = account
  }

  /// - Parameter text: `SERVICE/ACCOUNT`. The service may contain slashes, as addresses do.
  package init(_ text: String) throws(CredentialError) {
    guard let slash = text.lastIndex(of: "/") else {
      throw .invalid("\(text): write a credential as SERVICE/ACCOUNT")
    }
    try self.init(
      service: String(text[..<slash]), account: String(text[text.index(after: slash)...]))
  }

  public var description: String { "\(service)/\(account)" }

  public static func < (left: CredentialName, right: CredentialName) -> Bool {
    (left.service, left.account) < (right.service, right.account)
  }
}
