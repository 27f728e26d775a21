import Broadcast
import CommandLineSupport
import FrameBus
import Platform
import SharedDefaults
import SharedLog
import Upload
import UploadCamera
import UploadGStreamer
import WHIP

/// Makes the destinations that the command line names.
extension Send {
  /// The destination, or the one that shares an encoder among several.
  /// - Parameters:
  ///   - broadcast, connection: both are nil unless the program is the extension of a broadcast.
  ///   - opensSecrets: false to make it with a secret that only stands for the actual one.
  func destination(
    _ display: ProgressDisplay, _ broadcast: SetupInfo? = nil,
    _ connection: BroadcastConnection? = nil, opensSecrets: Bool = true
  ) throws -> any Destination {
    try refuseUseless()
    let encoder = try encoder(broadcast?.settings)
    let making = Making(
      display: display, broadcast: broadcast, connection: connection, encoder: encoder,
      isOneOfSeveral: upload.destinations.count > 1 || upload.follow, opensSecrets: opensSecrets)
    if !making.isOneOfSeveral {
      return try make(address(ofBroadcast: broadcast != nil), making)
    }
    try checkCombination()
    #if Media
      let members = try upload.destinations.map { try make($0, making) }
      let profile = try WHIPSetup(options: upload, global: global).profile()
      return try usage { () throws(DestinationError) in
        try SharedDestination(members, encoder: encoder, profile: profile) { output, error in
          ProductLog.append(.warning, "\(output) has ended: \(error)")
          display.showEnd(of: output, error)
        }
      }
    #else
      throw UsageError("this build has no encoder for several destinations; name one")
    #endif
  }

  #if Media
    /// One that the group's setting adds. It has no secret.
    func added(_ address: String, _ display: ProgressDisplay) throws -> any Destination {
      var send = self
      send.upload.secret = nil
      (send.upload.access.credential, send.upload.access.bearerFd) = (nil, nil)
      let making = Making(
        display: display, broadcast: nil, connection: nil, encoder: try encoder(nil),
        isOneOfSeveral: true)
      return try send.make(address, making)
    }
  #endif

  /// Refuses options for a connection if no destination has one. The setting that `--follow`
  /// follows may name one later. An unknown kind has an error of its own.
  private func refuseUseless() throws(UsageError) {
    let kinds = upload.destinations.map { (try? DestinationSpecification($0))?.kind }
    guard !upload.follow, !followsAddress, !kinds.contains(nil) else { return }
    if let option = upload.connection.useless(for: kinds.compactMap(\.self)).first {
      let schemes = upload.destinations.map { $0.prefix { $0 != ":" } + ":" }
      throw UsageError(
        "\(option) has no effect with \(schemes.joined(separator: " and ")); omit it")
    }
  }

  /// What all destinations of a run are made with.
  private struct Making {
    let display: ProgressDisplay
    let broadcast: SetupInfo?
    let connection: BroadcastConnection?
    let encoder: EncoderSettings
    let isOneOfSeveral: Bool
    var opensSecrets = true

    /// How messages name a destination; nil if there is only one.
    func name(_ address: String) -> String? {
      isOneOfSeveral ? LoggedText.address(address) : nil
    }
  }

  /// An error of the command line has its own status.
  private func usage<Value>(_ body: () throws(DestinationError) -> Value) throws -> Value {
    do throws(DestinationError) { return try body() } catch {
      if error.isMisuse { throw UsageError("\(error)") }
      throw error
    }
  }

  private func encoder(_ settings: SharedDefaults?) throws -> EncoderSettings {
    var encoder = try usage { () throws(DestinationError) in
      try EncoderSettings(
        encoder: upload.encoding.encoder ?? settings?.string(forKey: EncoderSettings.Keys.encoder),
        bitrate: upload.encoding.bitrate)
    }
    if upload.encoding.bitrate == nil {
      // A malformed one is logged by its follower.
      let setting = settings?.value(forKey: FollowedSetting.bitrate.rawValue)
      encoder.bitsPerSecond = try? setting?.bitsPerSecond()
    }
    return encoder
  }

  /// A secret is for one server: it is never sent to another one.
  private func checkCombination() throws(UsageError) {
    if BroadcastExtension.isStartedByHost, upload.follow {
      throw UsageError("--follow: the host of a broadcast chooses where it goes")
    }
    if followsAddress {
      throw UsageError("whip alone cannot be one of several destinations; write its address")
    }
    if upload.server != nil { throw UsageError("--server: it has no effect with an address") }
    if upload.media.simulcast {
      throw UsageError("--simulcast: several destinations share one encoder; name one")
    }
    let secrets = upload.destinations.compactMap {
      (try? DestinationSpecification($0))?.kind?.secret?.option
    }
    let hasBearer = upload.access.credential != nil || upload.access.bearerFd != nil
    for (option, isGiven) in [("secret", upload.secret != nil), ("credential", hasBearer)]
    where isGiven && secrets.count(where: { $0 == option }) > 1 {
      throw UsageError(
        "--\(option): only one of the destinations may have a secret; start an upload for the other"
      )
    }
  }

  /// The destination. If it has no address, that is the one to which the user of a broadcast's host
  /// has agreed, or else the group's setting.
  private func address(ofBroadcast isBroadcast: Bool) throws -> String {
    if !followsAddress {
      if upload.server != nil { throw UsageError("--server: it has no effect with an address") }
      return upload.destinations[0]
    }
    let address: String
    if isBroadcast {
      guard let agreed = BroadcastExtension.agreedServer else { throw NoAgreedServer() }
      address = agreed
    } else {
      address = try SharedDefaults(in: global.openGroup()).whipAddress()
    }
    if let text = upload.server {
      guard let server = WebAddress(server: text) else {
        throw UsageError("\(BroadcastServerError.malformed(text))")
      }
      if let named = WebAddress(address), !named.hasSameOrigin(as: server) {
        throw BroadcastServerError.other(named: named.origin, agreed: server.origin)
      }
    }
    return "whip:" + address
  }

  private func make(_ address: String, _ making: Making) throws -> any Destination {
    let (display, connection) = (making.display, making.connection)
    let name = making.name(address)
    var setup = DestinationSetup(encoder: making.encoder)
    setup.retriesFirst = making.broadcast != nil
    if let retries = upload.connection.retryFor { setup.reconnectsFor = .seconds(retries) }
    setup.onLive = {
      display.showLive(name)
      connection?.live()
    }
    var makers = [DestinationMaker.null]
    #if Media
      let named = try? DestinationSpecification(address)
      if named?.kind?.secret?.option == "secret" || !making.isOneOfSeveral {
        setup.secret = try upload.secret.map {
          if !making.opensSecrets { return "a placeholder" }
          return try EndpointSecrets(upload.access, global, opened: making.broadcast?.credentials)
            .account($0).password
        }
      }
      if let address = named.flatMap({ try? PublicAddress($0) }) {
        // GStreamer logs the whole address.
        AddressKeys.found(in: address.path).forEach(ProductLog.leaveOut)
      }
      if named?.kind == .replay {
        let group = try making.broadcast?.group ?? global.openGroup(creatingLocal: true)
        let stream = try making.broadcast?.leadingStream ?? upload.streams()[0]
        setup.replay = ReplayPlace(stream, in: group)
      }
      if making.broadcast != nil { setup.cameraConnection = BroadcastExtension.cameraConnection }
      setup.onLoss = { error, pause in
        ProductLog.append(.warning, "\(error)")
        display.showLoss(error, next: pause)
        connection?.connecting("\(error)")
      }
      var whip = WHIPOptions()
      if let named, named.kind == .whip { whip = try whipOptions(named, setup, making, name) }
      makers += DestinationMaker.media(whip: whip) + [.camera]
    #endif
    return try usage { () throws(DestinationError) in
      try DestinationCatalog(makers).make(address, setup)
    }
  }

  #if Media
    private func whipOptions(
      _ named: DestinationSpecification, _ setup: DestinationSetup, _ making: Making,
      _ name: String?
    ) throws -> WHIPOptions {
      let (terminal, broadcast, connection) = (global.terminal, making.broadcast, making.connection)
      var whip = try WHIPSetup(options: upload, global: global, credentials: broadcast?.credentials)
        .whipOptions { [display = making.display] report in
          display.show(report, of: name)
          if case .connection(.connected) = report { connection?.live() }
          if case .reconnecting(let error, _) = report { connection?.connecting("\(error)") }
          if case .notMoved(let error) = report {
            let text = "\(error); the previous address is used again"
            connection?.refused(FollowedSetting.address.rawValue, "\(error)")
            broadcast?.log.append(.warning, text, label: "upload")
            if broadcast == nil { terminal.warn(text) }
          }
        }
      whip.reconnectsFor = setup.reconnectsFor
      if let silence = upload.connection.lostAfter { whip.timeouts.silence = .seconds(silence) }
      // Somebody has agreed to this server alone.
      whip.staysAtOrigin = followsAddress
      if followsAddress, broadcast == nil, upload.server == nil, whip.bearer != nil {
        let origin = WebAddress(named.address)?.origin ?? "its server"
        throw UsageError("\(BroadcastServerError.unnamed(origin: origin))")
      }
      return whip
    }
  #endif
}
