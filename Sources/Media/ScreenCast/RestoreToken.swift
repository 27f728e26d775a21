import AppGroup
import CredentialStore
import FrameBus

/// The token with which the portal restores what a user chose, so that the dialog comes once.
///
/// It is a credential of the group, `portal/STREAM`, sealed for the host alone: a program that has
/// it can see the screen. A portal gives a new one for each session, and takes back the old one.
package struct RestoreToken: Sendable {
  package let name: CredentialName
  private let group: AppGroup
  /// Nil to open the store when it is needed.
  private let opened: CredentialStore?

  private static let service = "portal"

  /// - Parameter opened: the group's store, if the host has opened it already.
  package init(
    of stream: StreamName, in group: AppGroup, _ opened: CredentialStore? = nil
  ) throws(CredentialError) {
    self.opened = opened
    name = try CredentialName(service: Self.service, account: stream.text)
    self.group = group
  }

  /// - Returns: nil if there is none.
  package func read() throws(CredentialError) -> SecretBytes? {
    do throws(CredentialError) {
      if let opened { return try opened.get(name) }
      guard try CredentialStore.exists(in: group) else { return nil }
      return try CredentialStore.open(in: group, as: .host).get(name)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  package func keep(_ token: consuming SecretBytes) throws(CredentialError) {
    let store =
      if let opened { opened } else if try CredentialStore.exists(in: group) {
        try CredentialStore.open(in: group, as: .host)
      } else {
        try CredentialStore.create(in: group)
      }
    let options = CredentialOptions(
      label: "ScreenCast portal", comment: "Restores the choice of a screen or window")
    try store.set(name, token, options: options)
  }
}
