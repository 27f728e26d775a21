import AppGroup
import CredentialStore
import Platform
import Synchronization

/// Why a keychain operation failed.
public enum KeychainError: Error, CustomStringConvertible {
  /// The text is not a valid group ID.
  case groupID(GroupIDError)
  /// The group cannot be used.
  case group(GroupError)
  /// The store cannot be used.
  case store(CredentialError)

  public var description: String {
    switch self {
    case .groupID(let error): "\(error)"
    case .group(let error): "\(error)"
    case .store(let error): "\(error)"
    }
  }
}

/// Calls the credential store and converts its error.
func attempt<Value: ~Copyable>(
  _ work: () throws(CredentialError) -> Value
) throws(KeychainError) -> Value {
  do { return try work() } catch { throw .store(error) }
}

/// Opens the credential store on first use and keeps it open.
final class StoreOpener: Sendable {
  private let openGroup: @Sendable () throws(KeychainError) -> AppGroup
  private let role: Role?
  private let opened = Mutex<CredentialStore?>(nil)

  init(role: Role?, openGroup: @escaping @Sendable () throws(KeychainError) -> AppGroup) {
    self.role = role
    self.openGroup = openGroup
  }

  /// - Returns: nil if the group has no credential store yet.
  func existingStore() throws(KeychainError) -> CredentialStore? {
    try opened.withLock { opened throws(KeychainError) in
      if let opened { return opened }
      let group = try openGroup()
      if try !attempt({ () throws(CredentialError) in try CredentialStore.exists(in: group) }) {
        return nil
      }
      let role = role ?? Self.role(in: group)
      let store = try attempt { () throws(CredentialError) in
        try CredentialStore.open(in: group, as: role)
      }
      opened = store
      return store
    }
  }

  /// The store, created if it does not exist.
  func storeCreatingIfMissing() throws(KeychainError) -> CredentialStore {
    if let store = try existingStore() { return store }
    return try opened.withLock { opened throws(KeychainError) in
      if let opened { return opened }
      let group = try openGroup()
      let store = try attempt { () throws(CredentialError) in try CredentialStore.create(in: group)
      }
      opened = store
      return store
    }
  }

  private static func role(in group: AppGroup) -> Role {
    let roles = group.ownRoles
    return roles.contains(.host) ? .host : roles.first ?? .host
  }
}

/// Opens the group with that ID; if nil, the group of `FRAMEBUS_GROUP` if it is set, otherwise the
/// local group; under `FRAMEBUS_HOME`, if that is set.
func openAccessGroup(_ text: String?) throws(KeychainError) -> AppGroup {
  var id = GroupID.local
  if let text = text ?? environmentValue(GroupVariables.group) {
    do { id = try GroupID(text) } catch { throw .groupID(error) }
  }
  do { return try AppGroup.open(id, root: environmentValue(GroupVariables.home)) } catch {
    throw .group(error)
  }
}
