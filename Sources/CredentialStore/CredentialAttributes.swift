import AppGroup
import Platform

/// When a credential can be opened by a role that may.
public enum Accessibility: UInt8, Sendable {
  case always = 0
  /// Only by those whose key had to be unlocked: by a passphrase, by the host that handed it over,
  /// or by systemd. It is sealed for no role whose key file is in the open, so that the store's
  /// files alone open it for nobody.
  case whenUnlocked = 1
  /// For as long as the session lasts that it was handed over for: a lease, which no file holds.
  case session = 2
}

/// What can be told about a credential without its secret. Times are seconds since 1970.
public struct CredentialAttributes: Hashable, Sendable {
  public let name: CredentialName
  public internal(set) var label: String
  public internal(set) var comment: String
  public internal(set) var accessibility: Accessibility
  public let createdAtSeconds: Int64
  public internal(set) var changedAtSeconds: Int64
  /// When it stops being given out; nil for never.
  public internal(set) var expiresAtSeconds: Int64?
  /// The roles that can open it, sorted. The host is always one: it seals.
  public internal(set) var recipients: [Role]
  /// Which state of the store it was sealed in: higher than of any credential sealed before.
  public internal(set) var generation: UInt64
  /// Random, and the same for as long as the credential is kept.
  let id: [UInt8]

  static let idBytes = 16
  static let maximumTextBytes = 1024
  static let maximumRecipients = 16

  /// The name of its file: every generation has a file of its own.
  var fileName: String { "\(hexadecimal(id))-\(generation).sealed" }

  static func generation(ofFile name: String) -> UInt64? {
    guard let dash = name.lastIndex(of: "-"), name.hasSuffix(".sealed") else { return nil }
    return UInt64(name[name.index(after: dash)...].dropLast(".sealed".utf8.count))
  }

  func isExpired(atSeconds now: Int64) -> Bool { expiresAtSeconds.map { $0 <= now } ?? false }
}

/// What whoever keeps a credential may say about it.
public struct CredentialOptions: Hashable, Sendable {
  public var label: String
  public var comment: String
  public var expiresAtSeconds: Int64?
  /// Who can open it besides the host.
  public var recipients: [Role]
  public var accessibility: Accessibility

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
          "a label or comment has at most \(CredentialAttributes.maximumTextBytes) bytes, and no"
            + " control characters")
      }
    }
    if accessibility == .session {
      throw .invalid("what lasts for a session is kept in no store: hand it over as a lease")
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
