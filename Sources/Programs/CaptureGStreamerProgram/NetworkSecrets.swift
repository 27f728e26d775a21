#if Media
  import AppGroup
  import CaptureGStreamer
  import CommandLineSupport
  import CredentialStore
  import Platform
  import WHIP

  extension NetworkSecret {
    /// The secret in a credential. GStreamer takes it as text and may log it, so it is masked in
    /// the log.
    init(named text: String, isBearer: Bool, _ global: GlobalOptions) throws {
      let name: CredentialName
      do { name = try CredentialName(text) } catch { throw UsageError("\(error)") }
      // From here on, no other process can read this process's memory.
      try keepMemoryPrivate()
      let group = try global.openGroup(creatingLocal: true)
      let store: CredentialStore
      if let handed = try HandedOver.takeInherited() {
        store = try CredentialStore.open(in: group, handed: handed)
      } else {
        store = try CredentialStore.open(in: group, as: global.role(default: .capture))
      }
      if isBearer {
        self.init(try BearerToken(try store.get(name)))
        return
      }
      let secret = try store.get(name).withBytes { bytes in
        // SAFETY: each byte of the span is read as a byte.
        String(
          decoding: (0..<bytes.byteCount).map {
            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
          }, as: UTF8.self)
      }
      ProductLog.leaveOut(secret)
      self.init(user: name.account, text: secret)
    }
  }
#endif
