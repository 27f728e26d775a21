import AppGroup
import Broadcast
import CommandLineSupport
import CredentialStore
import Platform
import WHIP

extension Send {
  /// What a user can do if a server refuses the bearer token.
  var signIn: String {
    get throws {
      let usual = followsAddress ? ExtensionManifest.whipCredential : nil
      guard let name = try upload.access.credential.map({ try CredentialName($0) }) ?? usual else {
        return "register the extension with --credential SERVICE/ACCOUNT, which names a token"
      }
      var words = ["framebus", "credential", "set", name.service, name.account]
      let group = try global.groupID()
      if group != .local { words += ["--group", "\(group)"] }
      if let root = global.root { words += ["--root", root] }
      return "sign in: " + words.map(Self.shellWord).joined(separator: " ")
    }
  }

  private static func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || (0x2d...0x39).contains(byte)
        || byte == UInt8(ascii: "_")
    }
    return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
  }
}

/// Opens the secrets that the command line names. It opens the credential store only if needed.
struct EndpointSecrets {
  private let access: WHIPAccessOptions
  private let global: GlobalOptions
  private let opened: CredentialStore?

  /// - Parameter opened: the store that a broadcast's host has handed over, which can be taken only
  ///   once.
  init(
    _ access: WHIPAccessOptions, _ global: GlobalOptions, opened: CredentialStore? = nil
  ) throws(SystemError) {
    self.access = access
    self.global = global
    self.opened = opened
    // From here on, no other process can read this process's memory.
    try keepMemoryPrivate()
  }

  /// The bearer token of `--credential` or `--bearer-fd`; nil without either, or if it is empty.
  func bearer() throws -> BearerToken? {
    if let number = access.bearerFd {
      return try BearerToken(try SecretBytes.read(from: number, called: "the bearer"))
    }
    guard let text = access.credential else { return nil }
    let name = try name(text)
    return try BearerToken(try store().get(name))
  }

  /// The bearer token of a credential that need not exist; nil without it.
  func bearerIfSealed(_ name: CredentialName) throws -> BearerToken? {
    guard try opened != nil || CredentialStore.exists(in: global.openGroup()) else { return nil }
    do {
      return try BearerToken(try store().get(name))
    } catch CredentialError.notFound {
      return nil
    }
  }

  /// The user and password for a relay or a server. GStreamer takes them as text and logs them, so
  /// the password is masked in the log.
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
