#if Media
  import AppGroup
  import CommandLineSupport
  import CredentialStore
  import LivePage
  import Platform
  import WHIP

  /// The endpoints on other servers, and the token for them.
  extension ViewProgram {
    /// Refuses addresses that cannot work, before any secret is opened.
    func checkRemotes() throws(UsageError) {
      let endpoints = try endpoints(nil)
      let access = view.access
      guard access.credential != nil || access.bearerFd != nil, let first = endpoints.first else {
        return
      }
      guard endpoints.allSatisfy({ $0.address.hasSameOrigin(as: first.address) }) else {
        throw UsageError(
          "a bearer token is for one server, and the endpoints are on several; start one "
            + "`framebus view` for each")
      }
    }

    func remotes() throws -> [RemoteEndpoint] {
      if view.remoteTexts.isEmpty { return [] }
      let certificates = view.access.trust.ca
      return try endpoints(try bearer()).map { endpoint in
        try RemoteEndpoint(endpoint, maximumViewers: view.viewers) { () throws(HTTPError) in
          try CurlClient(certificates: certificates)
        }
      }
    }

    private func endpoints(_ bearer: BearerToken?) throws(UsageError) -> [WHIPEndpoint] {
      var endpoints: [WHIPEndpoint] = []
      for text in view.remoteTexts {
        do throws(WHIPError) {
          endpoints.append(
            try WHIPEndpoint(
              text, bearer: bearer, allowsPlainHTTP: view.access.trust.allowHttp,
              staysAtOrigin: true))
        } catch {
          throw UsageError(error.forViewers)
        }
      }
      return endpoints
    }

    /// The bearer token of `--credential` or `--bearer-fd`; nil without either, or if it is empty.
    private func bearer() throws -> BearerToken? {
      let access = view.access
      if access.credential == nil, access.bearerFd == nil { return nil }
      // From here on, no other process can read this process's memory.
      try keepMemoryPrivate()
      do { return try BearerToken(try secret()) } catch let error as WHIPError {
        throw UsageError("\(error)")
      }
    }

    private func secret() throws -> SecretBytes {
      if let number = view.access.bearerFd {
        return try SecretBytes.read(from: number, called: "the bearer")
      }
      return try secret(named: view.access.credential ?? "")
    }

    /// The token of `--token`; nil without one.
    func pageToken() throws -> PageToken? {
      guard let name = view.token else { return nil }
      try keepMemoryPrivate()
      let text = try secret(named: name).withBytes { bytes in
        // SAFETY: each byte of the span is read as a byte.
        String(
          decoding: (0..<bytes.byteCount).map {
            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
          }, as: UTF8.self)
      }
      guard let token = PageToken(text) else {
        throw UsageError(
          "--token \(name): the secret cannot be part of an address; use 16 to 64 letters, digits, "
            + "“-” and “_”, such as the output of `openssl rand -hex 16`")
      }
      return token
    }

    private func secret(named text: String) throws -> SecretBytes {
      let name: CredentialName
      do { name = try CredentialName(text) } catch {
        throw UsageError("\(error)")
      }
      let store = try CredentialStore.open(
        in: try global.openGroup(creatingLocal: true), as: global.role(default: .extension))
      return try store.get(name)
    }
  }
#endif
