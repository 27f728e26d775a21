import AppGroup
import CredentialStore
import FrameBus

/// The token with which the portal restores what a user chose, so that the dialog comes once.
///
/// It is a credential of the group, `portal/STREAM`, sealed for the host alone: whoever has it can
/// see the screen. A portal gives a new one for each session, and takes back the old one.
package struct RestoreToken: Sendable {
  package let name: CredentialName
  private let group: AppGroup

  private static let service = "portal"

  package init(of stream: StreamName, in group: AppGroup) throws(CredentialError) {
    name = try CredentialName(service: Self.service, account: stream.text)
    self.group = group
  }

  /// - Returns: nil if there is none.
  package func read() throws(CredentialError) -> SecretBytes? {
    guard try CredentialStore.exists(in: group) else { return nil }
    do throws(CredentialError) {
      return try CredentialStore.open(in: group, as: .host).get(name)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  package func keep(_ token: consuming SecretBytes) throws(CredentialError) {
    let store =
      try CredentialStore.exists(in: group)
      ? CredentialStore.open(in: group, as: .host) : CredentialStore.create(in: group)
    let options = CredentialOptions(
      label: "ScreenCast portal", comment: "Restores the choice of a screen or window")
    try store.set(name, token, options: options)
  }
}
