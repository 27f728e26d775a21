import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import Platform

/// `framebus broadcast …`: the host's side of a broadcast.
struct BroadcastCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broadcast",
    abstract: "Capture a source and give it to an extension, each a process of its own.",
    subcommands: [
      BroadcastStart.self, BroadcastStop.self, BroadcastPauseCommand.self,
      BroadcastResume.self, BroadcastAnnotate.self, BroadcastSound.self,
      BroadcastStatusCommand.self,
    ])
}

struct BroadcastStop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "Have the extension finish, and wait until all has ended.",
    discussion: """
      Works from any terminal, also when the process that started it has died. Where the broadcast \
      is over, captures that it left behind are ended.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let signals = try SignalWatcher()
    let controller = try BroadcastController(in: global.openGroup())
    guard let session = try controller.status.session else { throw BroadcastError.noBroadcast }
    do { try controller.finish() } catch BroadcastError.noBroadcast {
      // A host that was made to end at once leaves its capture running.
      let count = try controller.endLeftCaptures()
      if count == 0 { throw BroadcastError.noBroadcast }
      return try global.tell(
        "ended what a broadcast that is over left running: \(counted(count, "capture"))",
        asJSON: ["endedCaptures": count])
    }
    let ending = try controller.waitForEnding(of: session, stop: signals.stop) { host in
      let (who, how) = host.map { (", process \($0),", "kill -CONT \($0)") } ?? ("", "fg")
      global.terminal.say(
        "the host\(who) does not respond; is it stopped? Continue it with `\(how)`; Ctrl-C ends"
          + " this wait")
    }
    guard let ending else { throw Interrupted() }
    try global.tell(
      "the broadcast \(session) \(ending)",
      asJSON: ["session": session.text, "ending": "\(ending)"])
  }
}

struct BroadcastPauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Give the extension no samples until `resume`.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try BroadcastController(in: global.openGroup()).pause() }
}

struct BroadcastResume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Give the extension samples again.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws { try BroadcastController(in: global.openGroup()).resume() }
}

struct BroadcastAnnotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "annotate", abstract: "Tell the extension which application is in front.")

  @Argument(help: ArgumentHelp("Such as org.example.editor.", valueName: "application"))
  var application: String
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    do {
      try BroadcastController(in: global.openGroup()).annotate(applicationID: application)
    } catch BroadcastError.badApplication {
      throw UsageError("\(BroadcastError.badApplication)")
    }
  }
}

/// `framebus broadcast status`.
struct BroadcastStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what is so of the group's broadcast.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let group = try global.openGroup()
    let role = try global.role(in: group)
    try StatusReport(BroadcastStatus(of: group, as: role)).print(to: global)
  }
}

/// What `framebus broadcast status` prints. The names are a contract.
private struct StatusReport: Encodable {
  struct RoleReport: Encodable {
    let pid: Int32?
    /// running or none.
    let state: String
    /// on, with what is lacking, or off, with the reason; nil for one that is never confined.
    let confinement: String?
  }

  let phase: String
  let session: String?
  /// Why it is paused, or how it ended.
  let reason: String
  let isCaptured: Bool
  let `extension`: String
  let source: String
  let application: String
  let attempt: Int
  let ending: EndingReport?
  let roles: [String: RoleReport]

  init(_ status: BroadcastStatus) {
    phase = status.isFinishing ? "finishing" : status.phase.rawValue
    session = status.session?.text
    let pauses = status.pauses.map(\.description).joined(separator: ", ")
    reason = status.ending.map { "\($0)" } ?? pauses
    isCaptured = status.isCaptured
    `extension` = status.extensionID
    source = status.source
    application = status.applicationID
    attempt = status.attempt
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
    // One that has finished says so once.
    let why = reason.isEmpty || reason == phase ? "" : ", \(reason.plain)"
    var rows = [("phase", phase + why)]
    if let session {
      rows += [
        ("session", session), ("extension", `extension`.plain), ("source", source.plain),
        ("captured", isCaptured ? "yes" : "no"),
      ]
    }
    if !application.isEmpty { rows.append(("in front", application.plain)) }
    for (role, report) in roles.sorted(by: { $0.key < $1.key }) {
      let confinement = report.confinement.map { ", confined: \($0.plain)" } ?? ""
      rows.append((role, report.pid.map { "process \($0)\(confinement)" } ?? "none"))
    }
    try global.terminal.printRows(rows)
  }
}

/// How a broadcast ended, as scripts read it.
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
