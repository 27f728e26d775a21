import AppGroup
import CredentialStore
import Platform
import Synchronization

// The group's credentials as users of the KeychainAccess library spell them, over CredentialStore,
// so that a program that was written for it keeps its shape.
//
// A module of its own, because its names are others', which nobody should meet who did not ask for
// them. It refuses to hold a secret in a String, and to answer a failure with nil: where that makes
// a difference, and what becomes of SecItem and libsecret, is in docs/design/keychain-names.md.

/// The credentials of one service, in a group.
///
/// A keychain with other attributes for what it will keep is made from one by ``label(_:)`` and the
/// like; both see the same credentials.
public struct Keychain: Sendable {
  public let service: String
  private let place: KeychainPlace
  private var options: CredentialOptions?

  /// - Parameters:
  ///   - accessGroup: the group's id; nil for `FRAMEBUS_GROUP`, else the local group.
  ///   - role: as whom to open; nil for the host if this user may be that, else for the first of
  ///     the user's roles.
  public init(service: String, accessGroup: String? = nil, role: Role? = nil) {
    self.service = service
    place = KeychainPlace(role: role) { () throws(KeychainError) in
      try openAccessGroup(accessGroup)
    }
  }

  /// A keychain in a group that the program has open.
  public init(service: String, group: AppGroup, role: Role? = nil) {
    self.service = service
    place = KeychainPlace(role: role) { group }
  }

  // MARK: Attributes of what will be kept

  public func label(_ label: String) -> Keychain { with { $0.label = label } }
  public func comment(_ comment: String) -> Keychain { with { $0.comment = comment } }
  /// Roles that can open what will be kept, besides the host.
  public func recipients(_ roles: [Role]) -> Keychain { with { $0.recipients = roles } }
  /// When what will be kept expires: seconds since 1970.
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

  /// - Returns: nil if nothing is kept under that key; whatever else fails is thrown.
  public func get(_ key: String) throws(KeychainError) -> SecretBytes? {
    let name = try name(key)
    guard let store = try place.store() else { return nil }
    do throws(CredentialError) { return try store.get(name) } catch .notFound { return nil } catch {
      throw .store(error)
    }
  }

  /// Keeps a secret, in place of one of that key. Without attributes of this keychain, those of the
  /// old one stay.
  public func set(_ secret: borrowing SecretBytes, key: String) throws(KeychainError) {
    let name = try name(key)
    let store = try place.storeOrNew()
    try attempt { () throws(CredentialError) in
      if let options { return try store.set(name, secret, options: options) }
      do throws(CredentialError) {
        try store.update(name, secret)
      } catch .notFound {
        try store.add(name, secret)
      }
    }
  }

  /// Removes a credential, if there is one.
  public func remove(_ key: String) throws(KeychainError) {
    let name = try name(key)
    guard let store = try place.store() else { return }
    do throws(CredentialError) { try store.remove(name) } catch .notFound {} catch {
      throw .store(error)
    }
  }

  /// Removes all credentials of the service.
  public func removeAll() throws(KeychainError) {
    for key in try allKeys() { try remove(key) }
  }

  // MARK: What there is

  public func contains(_ key: String) throws(KeychainError) -> Bool {
    try attributes(of: key) != nil
  }

  public func allKeys() throws(KeychainError) -> [String] { try allItems().map(\.name.account) }

  /// All credentials of the service, without their secrets.
  public func allItems() throws(KeychainError) -> [CredentialAttributes] {
    guard let store = try place.store() else { return [] }
    return try attempt { () throws(CredentialError) in
      try store.list().filter { $0.name.service == service }
    }
  }

  /// - Returns: nil if nothing is kept under that key.
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
