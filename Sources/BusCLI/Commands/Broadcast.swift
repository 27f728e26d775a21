import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import Platform
import Upload

/// `framebus broadcast …`: the host's side of a broadcast.
struct BroadcastCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broadcast",
    abstract: "Broadcast a captured source to an extension.",
    subcommands: [
      BroadcastStart.self, BroadcastPick.self, BroadcastStop.self, BroadcastPauseCommand.self,
      BroadcastResume.self, BroadcastAnnotate.self, BroadcastSound.self,
      BroadcastStatusCommand.self,
    ])
}

struct BroadcastStop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Stop the broadcast and wait for its processes to exit.",
    discussion: """
      Works from any terminal, even if the process that started the broadcast has died. If no \
      broadcast is active, it stops captures that an ended broadcast left running.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let signals = try SignalWatcher()
    let controller = try BroadcastController(in: global.openGroup())
    guard let session = try controller.status.session else { throw BroadcastError.noBroadcast }
    do { try controller.finish() } catch BroadcastError.noBroadcast {
      // A host that was killed leaves its capture running.
      let count = try controller.endOrphanedCaptures()
      if count == 0 { throw BroadcastError.noBroadcast }
      return try global.report(
        "stopped \(counted(count, "capture")) that an ended broadcast left running",
        asJSON: ["endedCaptures": count])
    }
    let ending = try controller.waitForEnding(of: session, stop: signals.stop) { host in
      let (who, how) = host.map { (", process \($0),", "kill -CONT \($0)") } ?? ("", "fg")
      global.terminal.report(
        "the host\(who) does not respond and may be suspended; continue it with `\(how)`, or end"
          + " this wait with Ctrl-C")
    }
    guard let ending else { throw Interrupted() }
    let missing = try controller.status.missingSound
    try global.report(
      "the broadcast \(session) \(ending)\(missing.ending)",
      asJSON: SessionReport(session, ending, missing))
  }
}

struct BroadcastPauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause the flow of samples until `resume`.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try global.change { try $0.pause() } }
}

struct BroadcastResume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resume the flow of samples.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try global.change { try $0.resume() } }
}

struct BroadcastAnnotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "annotate", abstract: "Set the frontmost application's ID for the extension.")

  @Argument(
    help: ArgumentHelp(
      "Application ID, such as org.example.editor.", valueName: "application"))
  var application: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    do {
      try global.change { (controller) in
        try controller.annotate(applicationID: application)
      }
    } catch BroadcastError.badApplication {
      throw UsageError("\(BroadcastError.badApplication)")
    }
  }
}

/// `framebus broadcast status`.
struct BroadcastStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show broadcast status.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let group = try global.openGroup()
    let role = try global.role(in: group)
    try StatusReport(BroadcastStatus(of: group, as: role)).print(to: global)
  }
}

extension GlobalOptions {
  /// Changes the active broadcast and, with `--json`, prints its status after the change.
  fileprivate func change(_ body: (BroadcastController) throws -> Void) throws {
    let controller = try BroadcastController(in: openGroup())
    try body(controller)
    if json { try terminal.printJSON(StatusReport(controller.status)) }
  }
}

/// The output of `framebus broadcast status`. The names are a contract.
private struct StatusReport: Encodable {
  struct RoleReport: Encodable {
    let pid: Int32?
    /// running or none.
    let state: String
    /// `on`, with the measures that are missing, or `off`, with the reason; nil for a role that is
    /// never confined.
    let confinement: String?
  }

  let phase: String
  /// run, pause or finish: the state that the extension reaches next.
  let requested: String?
  let session: String?
  /// Why the broadcast is paused or not connected, or how it ended.
  let reason: String
  /// The reasons of a pause in words; empty if it is not paused.
  let explanation: String
  let isCaptured: Bool
  let `extension`: String
  let source: String
  let application: String
  let options: [String: String]
  let attempt: Int
  /// The sound that cannot be captured, by its kind, and why.
  let missingSound: [String: String]
  /// The settings that the extension does not use, and why.
  let refusedSettings: [String: String]
  /// Where the extension sends, and how well.
  let destinations: [DestinationReport]
  let ending: EndingReport?
  let roles: [String: RoleReport]
  private let destinationLines: [String]

  enum CodingKeys: CodingKey {
    case phase, requested, session, reason, explanation, isCaptured, `extension`, source
    case application, options, attempt, missingSound, refusedSettings, destinations, ending, roles
  }

  init(_ status: BroadcastStatus) {
    phase = status.isFinishing ? "finishing" : status.phase.rawValue
    requested = status.requested?.rawValue
    session = status.session?.text
    let pauses = status.pauses.map(\.description).joined(separator: ", ")
    let trouble = status.phase == .connecting ? status.connectionFailure : pauses
    reason = status.ending.map { "\($0)" } ?? trouble
    explanation = status.pauses.map(\.explanation).joined(separator: "; ")
    isCaptured = status.isCaptured
    `extension` = status.extensionID
    source = status.source
    application = status.applicationID
    options = status.options
    attempt = status.attempt
    missingSound = Dictionary(
      uniqueKeysWithValues: status.missingSound.map { ($0.key.rawValue, $0.value) })
    refusedSettings = status.refusedSettings
    destinations = status.destinations.map(DestinationReport.init)
    destinationLines = status.destinations.map { figures in
      figures.line + (figures.error.map { ": " + "\($0)".plain } ?? "")
    }
    ending = status.ending.map(EndingReport.init)
    roles = Dictionary(
      uniqueKeysWithValues: Role.publishing.map { role in
        let pid = status.pids[role]
        let report = RoleReport(
          pid: pid, state: pid == nil ? "none" : "running", confinement: status.confinement[role])
        return (role.description, report)
      })
  }

  func print(to global: GlobalOptions) throws {
    if global.json { return try global.terminal.printJSON(self) }
    // The ending of a finished broadcast repeats its phase.
    let why = reason.isEmpty || reason == phase ? "" : ", \(reason.plain)"
    let words = explanation.isEmpty ? "" : " (\(explanation))"
    var rows = [("phase", phase + why + words)]
    if let session {
      rows += [
        ("session", session), ("extension", `extension`.plain), ("source", source.plain),
        ("captured", isCaptured ? "yes" : "no"),
      ]
    }
    if !options.isEmpty {
      let texts = options.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.plain)" }
      rows.append(("options", texts.joined(separator: ", ")))
    }
    if !application.isEmpty { rows.append(("in front", application.plain)) }
    for (kind, why) in missingSound.sorted(by: { $0.key < $1.key }) {
      rows.append(("no sound", "\(kind.plain): \(why.plain)"))
    }
    for (setting, why) in refusedSettings.sorted(by: { $0.key < $1.key }) {
      rows.append(("not used", "\(setting.plain): \(why.plain)"))
    }
    rows += destinationLines.map { ("destination", $0) }
    for (role, report) in roles.sorted(by: { $0.key < $1.key }) {
      let confinement = report.confinement.map { ", confined: \($0.plain)" } ?? ""
      rows.append((role, report.pid.map { "process \($0)\(confinement)" } ?? "none"))
    }
    try global.terminal.printRows(rows)
  }
}

/// One destination of a broadcast, as JSON.
private struct DestinationReport: Encodable {
  let output: String
  let state: String
  let bytes: UInt64
  let bitsPerSecond: Int
  let drops: Int
  let targetBitsPerSecond: Int?
  let roundTripNs: UInt64?
  let lostShare: Double?
  let retransmittedPackets: Int?
  let error: String?

  init(_ figures: DestinationFigures) {
    output = figures.output
    state = figures.state.rawValue
    bytes = figures.byteCount
    bitsPerSecond = figures.bitsPerSecond
    drops = figures.drops
    targetBitsPerSecond = figures.network?.targetBitsPerSecond
    roundTripNs = figures.network?.roundTripNs
    lostShare = figures.network?.lostShare
    retransmittedPackets = figures.network?.retransmittedPackets
    error = figures.error.map { "\($0)" }
  }
}

extension [SampleBufferType: String] {
  /// The sound that a broadcast ended without, as the end of a line; empty for none.
  var ending: String {
    isEmpty
      ? ""
      : ", without "
        + sorted { $0.key.rawValue < $1.key.rawValue }
        .map { "\($0.key.rawValue) (\($0.value.plain))" }.joined(separator: ", ")
  }
}

/// How a broadcast ended, as JSON.
struct EndingReport: Encodable {
  /// finished, cancelled, failed or died.
  let kind: String
  private(set) var signal: Int32?
  private(set) var domain: String?
  private(set) var code: Int?
  private(set) var reason: String?
  private(set) var recovery: String?

  init(_ ending: BroadcastEnding) {
    switch ending {
    case .finished: kind = "finished"
    case .cancelled: kind = "cancelled"
    case .died(let signal):
      kind = "died"
      self.signal = signal
    case .failed(let failure):
      kind = "failed"
      domain = failure.domain
      code = failure.code
      reason = failure.reason
      recovery = failure.recovery
    }
  }
}
