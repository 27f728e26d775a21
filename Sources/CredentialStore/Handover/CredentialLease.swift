import AppGroup

/// A credential for one session. A parent passes it to a child in memory; it is never in a file.
/// The child can open it like any other credential until the session ends.
public final class CredentialLease: Sendable {
  /// Name, label and times, without the secret.
  public let attributes: CredentialAttributes
  let secret: SecretBytes

  /// - Parameter options: label, comment and expiry. The recipient is the role that receives it.
  /// - Throws: ``CredentialError/invalid(_:)`` for a secret or a text outside its limits.
  public convenience init(
    _ name: CredentialName, _ secret: consuming SecretBytes,
    options: CredentialOptions = CredentialOptions()
  ) throws(CredentialError) {
    try options.requireValid()
    guard (1...Format.maximumSecretBytes).contains(secret.byteCount) else {
      throw .invalid(
        "a secret has 1 to \(Format.maximumSecretBytes) bytes, not \(secret.byteCount)")
    }
    let now = wallNowSeconds()
    let attributes = CredentialAttributes(
      name: name, label: options.label, comment: options.comment, accessibility: .session,
      createdAtSeconds: now, changedAtSeconds: now, expiresAtSeconds: options.expiresAtSeconds,
      recipients: [.host], generation: 0,
      id: .random())
    self.init(attributes, secret)
  }

  init(_ attributes: CredentialAttributes, _ secret: consuming SecretBytes) {
    self.attributes = attributes
    self.secret = secret
  }

  func attributes(for role: Role) -> CredentialAttributes {
    var result = attributes
    result.accessibility = .session
    result.recipients = Set([.host, role]).sorted()
    return result
  }
}
