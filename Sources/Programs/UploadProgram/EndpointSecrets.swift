import AppGroup
import CommandLineSupport
import CredentialStore
import Platform
import WHIP

/// Opens the secrets that the command line names; reaches for the store only if it names one.
struct EndpointSecrets {
  private let access: WHIPAccessOptions
  private let global: GlobalOptions
  private let opened: CredentialStore?

  /// - Parameter opened: the store, if a broadcast's host has handed it over; that is taken once.
  init(
    _ access: WHIPAccessOptions, _ global: GlobalOptions, opened: CredentialStore? = nil
  ) throws(SystemError) {
    self.access = access
    self.global = global
    self.opened = opened
    // From here on nobody looks into this process.
    try keepMemoryPrivate()
  }

  /// The bearer of `--credential` or `--bearer-fd`; nil without either, or if it is empty.
  func bearer() throws -> BearerToken? {
    if let number = access.bearerFd {
      return try BearerToken(try SecretBytes.read(from: number, called: "the bearer"))
    }
    guard let text = access.credential else { return nil }
    let name = try name(text)
    return try BearerToken(try store().get(name))
  }

  /// A user and password, of a relay or a server; GStreamer takes them as text, and logs them.
  func account(_ text: String) throws -> (user: String, password: String) {
    let name = try name(text)
    let password = try store().get(name).withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      String(
        decoding: (0..<bytes.byteCount).map {
          unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
        }, as: UTF8.self)
    }
    ProductLog.leaveOut(password)
    return (name.account, password)
  }

  private func name(_ text: String) throws(UsageError) -> CredentialName {
    do { return try CredentialName(text) } catch { throw UsageError("\(error)") }
  }

  private func store() throws -> CredentialStore {
    if let opened { return opened }
    let group = try global.openGroup()
    if let handed = try HandedOver.takeInherited() {
      return try CredentialStore.open(in: group, handed: handed)
    }
    return try CredentialStore.open(in: group, as: global.role(default: .extension))
  }
}
