import AppGroup
import CFrameBus
import CredentialStore
import Platform

/// SAFETY: as of all pointers of C (CStructures.swift), in this file.

/// A secret that is readable until it is closed.
@safe final class SecretBox: Handled {
  static let kind = HandleKind.secret
  private let secret: SecretBytes
  /// SAFETY: the secret's own memory, readable as long as self.
  let bytes: UnsafeRawBufferPointer

  init(_ secret: consuming SecretBytes) {
    unsafe bytes = secret.beginLending()
    self.secret = secret
  }

  deinit { secret.endLending() }
}

@c @implementation
public func framebus_secret_open(
  _ group: OpaquePointer!, _ role: UnsafePointer<CChar>!, _ service: UnsafePointer<CChar>!,
  _ account: UnsafePointer<CChar>!, _ passphrase: UnsafePointer<CChar>!,
  _ secret: UnsafeMutablePointer<OpaquePointer?>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(group, GroupBox.self, error) { box throws(CFailure) in
    try unsafe require(secret)
    let role = try unsafe CInterface.role(role)
    let service = try unsafe text(service, "service")
    let account = try unsafe text(account, "account")
    let name = try CredentialError.converted(
      try CredentialName(service: service, account: account))
    let opened: SecretBytes
    do throws(CredentialError) {
      let store = try unsafe openStore(box.group, role, passphrase)
      opened = try store.get(name)
    } catch { throw error.failure }
    try unsafe set(secret, SecretBox(opened))
    return FRAMEBUS_OK
  }
}

/// The passphrase goes from C's memory into locked memory, through no other.
private func openStore(
  _ group: AppGroup, _ role: Role, _ passphrase: UnsafePointer<CChar>?
) throws(CredentialError) -> CredentialStore {
  guard let passphrase = unsafe passphrase else { return try .open(in: group, as: role) }
  var count = 0
  while unsafe passphrase[count] != 0 { count += 1 }
  let span = unsafe RawSpan(_unsafeStart: passphrase, byteCount: count)
  return try .open(in: group, as: role, passphrase: SecretBytes(copying: span))
}

@c @implementation
public func framebus_secret_get(
  _ secret: OpaquePointer!, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>!,
  _ count: UnsafeMutablePointer<Int>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  unsafe using(secret, SecretBox.self, error) { box throws(CFailure) in
    try unsafe set(bytes, "bytes", to: box.bytes.baseAddress)
    try unsafe set(count, "count", to: box.bytes.count)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_secret_close(_ secret: OpaquePointer!) -> Int32 {
  unsafe closeHandle(secret, SecretBox.self)
}
