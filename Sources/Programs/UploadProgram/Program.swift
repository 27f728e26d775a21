import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import CredentialStore
import FrameBus
import GStreamerLog
import Platform
import SharedDefaults
import Upload
import UploadGStreamer
import WHIP

/// The program `framebus-upload`: one stream and one destination in a process of its own, and the
/// probe of WHIP endpoints.
///
/// It connects the modules, and refuses to do their work: Upload runs the upload, UploadGStreamer
/// encodes, WHIP signals, CommandLineSupport parses and prints.
@main struct UploadProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-upload",
    abstract: "Encode a stream's frames, then send or record them.",
    subcommands: [Send.self, Check.self, Probe.self, Plugins.self], defaultSubcommand: Send.self)

  static func main() { runProgram(UploadProgram.self) }
}

/// `framebus upload DESTINATION`.
struct Send: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encode a stream's frames, then send or record them.")

  @OptionGroup var upload: UploadOptions
  @OptionGroup var global: GlobalOptions

  /// How long a snapshot waits for the first frame of an existing stream.
  private static let snapshotTimeout = Duration.seconds(5)

  func run() throws {
    let display = ProgressDisplay(global.terminal)
    // The host chooses the streams, and ends the upload with the broadcast.
    if BroadcastExtension.isStartedByHost {
      BroadcastExtension.run(
        BroadcastUpload(follows: followedSettings, signIn: try signIn) { setup, connection in
          try self.destination(display, setup, connection)
        })
    }
    let streams = try upload.streams()
    let policy = try policy()
    // Before GStreamer starts threads, because these must not receive the signals.
    let signals = try SignalWatcher()
    let destination = try destination(display)
    if destination.connects { display.willConnect(to: destination.output) }
    let isSnapshot = destination.frameLimit == 1
    let group = try global.openGroup(creatingLocal: !isSnapshot)
    ProductLog.begin(
      "framebus-upload", in: group, as: .extension, global, options: upload.logged)
    #if Media
      GStreamerLog.begin(minimumLevel: ProductLog.minimumLevel) { line in
        ProductLog.append(
          line.level, "\(line.category): \(line.text)", label: "gstreamer", source: line.source,
          line: line.sourceLine)
      }
      if !(destination is NullDestination) {
        try ProductLog.interruptible(signals) { () throws(DestinationError) in
          try updatePluginRegistry()
        }
      }
    #endif

    var plan = UploadPlan(stream: streams[0], sound: Array(streams.dropFirst()))
    plan.policy = policy
    plan.frameLimit = upload.frames
    plan.measuresSkew = upload.skew
    plan.duration = upload.duration.map { .seconds($0) }
    if isSnapshot {
      plan.policy = policy ?? .latest
      plan.waitsForStream = false
      plan.refusesOldPictures = !upload.allowOld
      plan.firstFrameWithin = Self.snapshotTimeout
      // Longer than a snapshot takes, so there is no progress report.
      plan.progressInterval = Self.snapshotTimeout * 2
    }
    let captured = global.capturedAnnouncer(in: group, preferring: .extension)
    defer { captured?.end() }
    let runner = UploadRunner(
      plan, to: destination, in: group, stop: signals.stop, report: { display.show($0) })
    if !isSnapshot { followSettings(of: group, runner) }
    let summary = try runner.run()
    global.terminal.endProgress()
    ProductLog.append(summary)
    #if Media
      if let address = (destination as? EncodingDestination)?.entryAddress {
        global.terminal.detail(
          "the newest frame entered GStreamer at 0x\(String(address, radix: 16))")
      }
    #endif
    try display.show(summary, asJSON: global.json)
    if signals.isInterrupted { throw Interrupted() }
    if summary.end == .publisherFailed { throw PublisherFailed(stream: plan.stream) }
  }

  /// Lets an upload follow the group's settings. It goes on without them if they are not readable.
  private func followSettings(of group: AppGroup, _ runner: UploadRunner) {
    let terminal = global.terminal
    do throws(DefaultsError) {
      let settings = try FollowedSettings(followedSettings, in: SharedDefaults(in: group))
      runner.adjust = { pump in
        settings.apply(to: &pump) { setting, change in
          switch change {
          case .success(let text):
            terminal.report(text)
            ProductLog.append(.notice, text)
          case .failure(let error): terminal.warn("\(error); the previous value stays")
          }
        }
      }
    } catch {
      terminal.warn("\(error); the upload does not follow the group's settings")
    }
  }

  private func policy() throws(UsageError) -> DeliveryPolicy? {
    guard let text = upload.policy else { return nil }
    guard let policy = DeliveryPolicy(text) else {
      throw UsageError("--policy \(text): use latest, keep:N or lossless[:SECONDS]")
    }
    return policy
  }

  /// Whether the address is a setting of the group.
  var followsAddress: Bool {
    (try? DestinationSpecification(upload.destination))?.followsSetting == true
  }

  /// The group's settings that no option overrides.
  private var followedSettings: [FollowedSetting] {
    FollowedSetting.allCases.filter { setting in
      switch setting {
      case .bitrate: upload.encoding.bitrate == nil
      case .address: followsAddress
      case .frameRate, .muted: true
      }
    }
  }

  /// The destination. If it has no address, that is the one to which the user of a broadcast's host
  /// has agreed, or else the group's setting.
  private func address(ofBroadcast isBroadcast: Bool) throws -> String {
    if !followsAddress {
      if upload.server != nil { throw UsageError("--server: it has no effect with an address") }
      return upload.destination
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

  /// - Parameters: both are nil unless the program is the extension of a broadcast.
  func destination(
    _ display: ProgressDisplay, _ broadcast: SetupInfo? = nil,
    _ connection: BroadcastConnection? = nil
  ) throws -> any Destination {
    let (credentials, settings) = (broadcast?.credentials, broadcast?.settings)
    let terminal = global.terminal
    var setup = DestinationSetup()
    setup.retriesFirst = broadcast != nil
    if let retries = upload.connection.retryFor { setup.reconnectsFor = .seconds(retries) }
    setup.onLive = {
      display.showLive()
      connection?.live()
    }
    var makers = [DestinationMaker.null]
    let address = try address(ofBroadcast: broadcast != nil)
    #if Media
      let named = try? DestinationSpecification(address)
      setup.secret = try upload.secret.map {
        try EndpointSecrets(upload.access, global, opened: credentials).account($0).password
      }
      if let address = named.flatMap({ try? PublicAddress($0) }) {
        // GStreamer logs the whole address.
        AddressKeys.found(in: address.path).forEach(ProductLog.leaveOut)
      }
      setup.onLoss = { error, pause in
        ProductLog.append(.warning, "\(error)")
        display.showLoss(error, next: pause)
        connection?.connecting("\(error)")
      }
      var whip = WHIPOptions()
      if named?.kind == .whip {
        whip = try WHIPSetup(options: upload, global: global, credentials: credentials)
          .whipOptions { report in
            display.show(report)
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
          let origin = named.flatMap { WebAddress($0.address) }?.origin ?? "its server"
          throw UsageError("\(BroadcastServerError.unnamed(origin: origin))")
        }
      }
      makers += DestinationMaker.media(whip: whip)
    #endif
    do throws(DestinationError) {
      setup.encoder = try EncoderSettings(
        encoder: upload.encoding.encoder ?? settings?.string(forKey: EncoderSettings.Keys.encoder),
        bitrate: upload.encoding.bitrate)
      if upload.encoding.bitrate == nil {
        // A malformed one is logged by its follower.
        let setting = settings?.value(forKey: FollowedSetting.bitrate.rawValue)
        setup.encoder.bitsPerSecond = try? setting?.bitsPerSecond()
      }
      return try DestinationCatalog(makers).make(address, setup)
    } catch {
      if error.isMisuse { throw UsageError("\(error)") }
      throw error
    }
  }
}

/// The stream ended because its publisher failed. The output up to then is complete.
struct PublisherFailed: Error, CustomStringConvertible {
  let stream: StreamName

  var description: String {
    "the publisher of “\(stream)” failed; see its own messages, and start it again"
  }
}
