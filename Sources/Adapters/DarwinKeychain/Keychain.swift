import AppGroup
import CredentialStore
import Platform
import Synchronization

// An adapter: the group's credentials under the names of the KeychainAccess library, over
// CredentialStore, so that programs written for that library need few changes.
//
// A separate module, so that its foreign names are visible only to programs that import it. It
// refuses to hold a secret in a String, and to report a failure as nil.
// docs/design/keychain-names.md lists the differences, also for SecItem and libsecret.

/// The credentials of one service in a group.
///
/// ``label(_:)`` and similar methods return a keychain with other attributes for new credentials;
/// both see the same credentials.
public struct Keychain: Sendable {
  /// The service of all its items.
  public let service: String
  private let opener: StoreOpener
  private var options: CredentialOptions?

  /// - Parameters:
  ///   - accessGroup: group ID; nil for `FRAMEBUS_GROUP` if it is set, otherwise the local group.
  ///   - role: the role that opens the store; nil for the host if this user has that role,
  ///     otherwise the first of the user's roles.
  public init(service: String, accessGroup: String? = nil, role: Role? = nil) {
    self.service = service
    opener = StoreOpener(role: role) { () throws(KeychainError) in
      try openAccessGroup(accessGroup)
    }
  }

  /// Creates a keychain in a group that is open.
  public init(service: String, group: AppGroup, role: Role? = nil) {
    self.service = service
    opener = StoreOpener(role: role) { group }
  }

  // MARK: Attributes for new credentials

  /// The same keychain, whose new items have this label.
  public func label(_ label: String) -> Keychain { with { $0.label = label } }
  /// The same keychain, whose new items have this comment.
  public func comment(_ comment: String) -> Keychain { with { $0.comment = comment } }
  /// Roles that can open new credentials, besides the host.
  public func recipients(_ roles: [Role]) -> Keychain { with { $0.recipients = roles } }
  /// When new credentials expire: seconds since 1970.
  public func expires(atSeconds seconds: Int64) -> Keychain {
    with { $0.expiresAtSeconds = seconds }
  }

  private func with(_ change: (inout CredentialOptions) -> Void) -> Keychain {
    var copy = self
    var options = self.options ?? CredentialOptions()
    change(&options)
    copy.options = options
    return copy
  }

  // MARK: Secrets

  /// - Returns: nil if there is no credential with that key; any other failure is thrown.
  public func get(_ key: String) throws(KeychainError) -> SecretBytes? {
    let name = try name(key)
    guard let store = try opener.existingStore() else { return nil }
    do throws(CredentialError) { return try store.get(name) } catch .notFound { return nil } catch {
      throw .store(error)
    }
  }

  /// Creates or replaces a credential. If this keychain has no attributes, an existing credential
  /// keeps its own.
  public func set(_ secret: borrowing SecretBytes, key: String) throws(KeychainError) {
    let name = try name(key)
    let store = try opener.storeCreatingIfMissing()
    try attempt { () throws(CredentialError) in
      if let options { return try store.set(name, secret, options: options) }
      do throws(CredentialError) {
        try store.update(name, secret)
      } catch .notFound {
        try store.add(name, secret)
      }
    }
  }

  /// Removes a credential, if it exists.
  public func remove(_ key: String) throws(KeychainError) {
    let name = try name(key)
    guard let store = try opener.existingStore() else { return }
    do throws(CredentialError) { try store.remove(name) } catch .notFound {} catch {
      throw .store(error)
    }
  }

  /// Removes all credentials of the service.
  public func removeAll() throws(KeychainError) {
    for key in try allKeys() { try remove(key) }
  }

  // MARK: Listing

  /// Whether there is an item, which is not opened.
  public func contains(_ key: String) throws(KeychainError) -> Bool {
    try attributes(of: key) != nil
  }

  /// The accounts of all items.
  public func allKeys() throws(KeychainError) -> [String] { try allItems().map(\.name.account) }

  /// All credentials of the service, without their secrets.
  public func allItems() throws(KeychainError) -> [CredentialAttributes] {
    guard let store = try opener.existingStore() else { return [] }
    return try attempt { () throws(CredentialError) in
      try store.list().filter { $0.name.service == service }
    }
  }

  /// - Returns: nil if there is no credential with that key.
  public func attributes(of key: String) throws(KeychainError) -> CredentialAttributes? {
    let name = try name(key)
    return try allItems().first { $0.name == name }
  }

  private func name(_ key: String) throws(KeychainError) -> CredentialName {
    try attempt { () throws(CredentialError) in
      try CredentialName(service: service, account: key)
    }
  }
}
