import AppGroup
import Platform

/// The condition under which a recipient can open a credential.
public enum Accessibility: UInt8, Sendable {
  /// At any time.
  case always = 0
  /// Only with a key that was unlocked: by a passphrase, by a hand-over from the host, or by
  /// systemd. The credential is never sealed for a role whose key file is unprotected, so the
  /// store's files are not enough to open it.
  case whenUnlocked = 1
  /// Until the session for which it was handed over ends: a lease, which is never in a file.
  case session = 2
}

/// The attributes of a credential, without its secret. Times are seconds since 1970.
public struct CredentialAttributes: Hashable, Sendable {
  /// Service and account.
  public let name: CredentialName
  /// A name for people.
  public internal(set) var label: String
  /// A comment, which is not secret.
  public internal(set) var comment: String
  /// When it can be opened.
  public internal(set) var accessibility: Accessibility
  /// When it was created, in seconds since 1970.
  public let createdAtSeconds: Int64
  /// When it was last changed, in seconds since 1970.
  public internal(set) var changedAtSeconds: Int64
  /// The time from which it can no longer be opened; nil for never.
  public internal(set) var expiresAtSeconds: Int64?
  /// The roles that can open it, sorted. They always include the host, which seals it.
  public internal(set) var recipients: [Role]
  /// The generation of the store in which it was sealed: higher than for earlier credentials.
  public internal(set) var generation: UInt64
  /// Unchanged until the credential is removed.
  let id: CredentialID

  static let maximumTextBytes = 1024
  static let maximumRecipients = 16

  /// The file name. Every generation has its own file.
  var fileName: String { "\(hexadecimal(id.bytes))-\(generation).sealed" }

  static func generation(ofFile name: String) -> UInt64? {
    guard let dash = name.lastIndex(of: "-"), name.hasSuffix(".sealed") else { return nil }
    return UInt64(name[name.index(after: dash)...].dropLast(".sealed".utf8.count))
  }

  func isExpired(atSeconds now: Int64) -> Bool { expiresAtSeconds.map { $0 <= now } ?? false }
}

/// 16 random bytes, held without an allocation.
struct CredentialID: Hashable, Sendable {
  private let first: UInt64
  private let second: UInt64

  init(_ parser: inout ByteParser) throws(FormatError) {
    first = try parser.number(ofBytes: 8)
    second = try parser.number(ofBytes: 8)
  }

  static func random() -> CredentialID { CredentialID(Sodium.randomBytes(16)) }

  private init(_ bytes: [UInt8]) {
    first = UInt64(littleEndian: bytes[..<8])
    second = UInt64(littleEndian: bytes[8...])
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(first)
    writer.integer(second)
    return writer.bytes
  }
}

/// The attributes that a caller chooses for a new credential.
public struct CredentialOptions: Hashable, Sendable {
  /// A name for people.
  public var label: String
  /// A comment, which is not secret.
  public var comment: String
  /// When it expires, in seconds since 1970; nil for never.
  public var expiresAtSeconds: Int64?
  /// The roles besides the host that can open it.
  public var recipients: [Role]
  /// When it can be opened.
  public var accessibility: Accessibility

  /// The attributes of a new credential.
  public init(
    label: String = "", comment: String = "", expiresAtSeconds: Int64? = nil,
    recipients: [Role] = [], accessibility: Accessibility = .always
  ) {
    self.accessibility = accessibility
    self.label = label
    self.comment = comment
    self.expiresAtSeconds = expiresAtSeconds
    self.recipients = recipients
  }

  func requireValid() throws(CredentialError) {
    for text in [label, comment] {
      guard text.utf8.count <= CredentialAttributes.maximumTextBytes, text.isPlain else {
        throw .invalid(
          "a label or comment has at most \(CredentialAttributes.maximumTextBytes) bytes and no"
            + " control characters")
      }
    }
    if accessibility == .session {
      throw .invalid("a session credential is not kept in a store; hand it over as a lease")
    }
    if let expiresAtSeconds, expiresAtSeconds <= 0 {
      throw .invalid("a credential cannot expire before 1970")
    }
    if Set(recipients).union([.host]).count > CredentialAttributes.maximumRecipients {
      throw .invalid(
        "a credential has at most \(CredentialAttributes.maximumRecipients) recipients")
    }
  }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

func wallNowSeconds() -> Int64 { Int64(wallNowNs() / 1_000_000_000) }
