import AppGroup
import CommandLineSupport
import CredentialStore
import Platform

/// Opens the credential that `--secret` names.
struct StreamSecret {
  let name: CredentialName
  let global: GlobalOptions

  init?(_ text: String?, _ global: GlobalOptions) throws(UsageError) {
    guard let text else { return nil }
    guard let slash = text.lastIndex(of: "/") else {
      throw UsageError("--secret \(text): write a credential like SERVICE/ACCOUNT")
    }
    do throws(CredentialError) {
      name = try CredentialName(
        service: String(text[..<slash]), account: String(text[text.index(after: slash)...]))
    } catch {
      throw UsageError("\(error)")
    }
    self.global = global
  }

  /// As text, since GStreamer takes it so; from here on nobody looks into this process.
  func open() throws -> String {
    try keepMemoryPrivate()
    return try store().get(name).withBytes { bytes in
      // SAFETY: each byte of the span is read as a byte.
      String(
        decoding: (0..<bytes.byteCount).map {
          unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
        }, as: UTF8.self)
    }
  }

  private func store() throws -> CredentialStore {
    let group = try global.openGroup()
    if let handed = try HandedOver.takeInherited() {
      return try CredentialStore.open(in: group, handed: handed)
    }
    return try CredentialStore.open(in: group, as: global.role(default: .extension))
  }
}
