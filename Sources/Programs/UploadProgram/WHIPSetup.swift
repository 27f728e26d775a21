#if Media
  import AppGroup
  import Broadcast
  import CommandLineSupport
  import CredentialStore
  import Platform
  import Upload
  import UploadGStreamer
  import WHIP

  /// Turns the command line into the options of a WHIP upload, and opens its secrets.
  struct WHIPSetup {
    let options: UploadOptions
    let global: GlobalOptions
    /// The store that a broadcast's host has handed over.
    var credentials: CredentialStore?

    func whipOptions(_ report: @escaping @Sendable (WHIPReport) -> Void) throws -> WHIPOptions {
      var result = WHIPOptions()
      result.allowsPlainHTTP = options.access.trust.allowHttp
      result.certificates = options.access.trust.ca
      result.usesRelaysOnly = options.media.relayOnly
      result.profile = try profile()
      result.hasLayers = options.media.simulcast
      result.report = report
      result.listener = { kind, text in ProductLog.appendCurl(kind, text) }
      if let least = try leastBitsPerSecond() { result.leastBitsPerSecond = least }
      let secrets = try EndpointSecrets(options.access, global, opened: credentials)
      result.bearer = try secrets.bearer()
      if result.bearer == nil, let name = ExtensionManifest.whipCredential,
        try DestinationSpecification(options.destinations[0]).followsSetting
      {
        result.bearer = try secrets.bearerIfSealed(name)
      }
      result.servers = try servers(secrets)
      return result
    }

    private func leastBitsPerSecond() throws(UsageError) -> Int? {
      do throws(DestinationError) {
        return try EncoderSettings(encoder: nil, bitrate: options.media.leastBitrate).bitsPerSecond
      } catch {
        throw UsageError("\(error)")
      }
    }

    func profile() throws(UsageError) -> H264Profile {
      guard let profile = H264Profile(rawValue: options.media.profile) else {
        let known = H264Profile.allCases.map(\.rawValue).joined(separator: " or ")
        throw UsageError("--profile \(options.media.profile): use \(known)")
      }
      return profile
    }

    private func servers(_ secrets: EndpointSecrets) throws -> [ICEServer] {
      var servers: [ICEServer] = []
      for text in [options.media.stun].compactMap(\.self) + options.media.turn {
        guard let server = ICEServer(text) else {
          throw UsageError(
            "“\(text)” is not an ICE server; write it as stun:HOST, turn:HOST:3478?transport=udp"
              + " or turns:HOST")
        }
        servers.append(server)
      }
      guard let credential = options.media.turnCredential else { return servers }
      let account = try secrets.account(credential)
      for index in servers.indices where servers[index].kind != .stun {
        servers[index].username = account.user
        servers[index].password = account.password
      }
      return servers
    }
  }
#endif
