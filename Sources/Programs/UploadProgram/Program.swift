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
    subcommands: [Send.self, Check.self, Probe.self, SaveReplay.self, Plugins.self],
    defaultSubcommand: Send.self)

  static func main() { runProgram(UploadProgram.self) }
}

/// `framebus upload DESTINATION`.
struct Send: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encode a stream's frames, then send or record them.")

  @OptionGroup var upload: UploadOptions
  @OptionGroup var global: GlobalOptions

  /// How long a snapshot waits for the stream, and then for its first frame.
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
      plan.streamWithin = Self.snapshotTimeout
      plan.refusesOldPictures = !upload.allowOld
      plan.firstFrameWithin = Self.snapshotTimeout
      // Longer than a snapshot takes, so there is no progress report.
      plan.progressInterval = Self.snapshotTimeout * 2
    }
    let captured = global.capturedAnnouncer(in: group, preferring: .extension)
    defer { captured?.end() }
    let runner = UploadRunner(
      plan, to: destination, in: group, stop: signals.stop, report: { display.show($0) })
    if !isSnapshot { followSettings(of: group, runner, display) }
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
    let failures = failures(summary)
    if !failures.isEmpty { throw DestinationsFailed(failures: failures) }
  }

  /// Lets an upload follow the group's settings. It goes on without them if they are not readable.
  private func followSettings(
    of group: AppGroup, _ runner: UploadRunner, _ display: ProgressDisplay
  ) {
    let terminal = global.terminal
    do throws(DefaultsError) {
      let settings = try FollowedSettings(followedSettings, in: SharedDefaults(in: group))
      #if Media
        var listed = ListedDestinations()
        settings.onDestinations = { next, destination in
          defer { listed = next }
          return try change(destination, from: listed, to: next, display)
        }
      #endif
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

  /// Those of several destinations that failed, or were never connected.
  private func failures(_ summary: UploadSummary) -> [DestinationFigures] {
    summary.progress.destinations.filter { part in
      part.state == .failed || part.state == .waiting && summary.end != .stopped
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
    upload.destinations.contains {
      (try? DestinationSpecification($0))?.followsSetting == true
    }
  }

  /// The group's settings that no option overrides.
  private var followedSettings: [FollowedSetting] {
    FollowedSetting.allCases.filter { setting in
      switch setting {
      case .bitrate: upload.encoding.bitrate == nil
      case .address: followsAddress
      case .destinations: upload.follow
      case .frameRate, .muted: true
      }
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

/// Some of several destinations have failed. What the others have is complete.
struct DestinationsFailed: Error, CustomStringConvertible {
  let failures: [DestinationFigures]

  var description: String {
    failures.map { part in
      let reason = part.error.map { "\($0)" } ?? "it took nothing"
      return "\(part.output) is not complete: \(reason)"
    }.joined(separator: "\n")
  }
}
