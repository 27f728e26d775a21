import AppGroup
import Capture
import FrameBus
import Platform
import Upload

/// The state of a group's broadcast, as any member can read it.
public struct BroadcastStatus: Hashable, Sendable {
  /// What it does.
  public let phase: BroadcastPhase
  /// Nil if no broadcast has started since the machine booted.
  public let session: SessionID?
  /// Why samples do not reach the extension; empty unless it is paused.
  public let pauses: [BroadcastPause]
  /// Why the extension's last attempt to reach its destination failed; empty if none has, and once
  /// the destination accepts samples.
  public let connectionFailure: String
  /// The state that a host requested, which the extension may not have reached; nil without an
  /// active broadcast.
  package let requested: RequestedState?
  /// Whether the host has asked the extension to finish.
  public let isFinishing: Bool
  /// Whether a subscriber sees a screen or window through any stream of the group, of this
  /// broadcast or not, or this cannot be read; see `ScreenCapturedState`.
  public let isCaptured: Bool
  /// The extension that it uses; empty if none has started.
  public let extensionID: String
  /// Without what may be a secret, such as the elements of a pipeline.
  public let source: String
  /// The application in front; empty if it is unknown.
  public let applicationID: String
  /// The options with which the session was started, as text for people, by their names on a
  /// command line.
  public let options: [String: String]
  /// How each role was confined when it started, as text for people: `on`, `on, without …` and the
  /// measures that this machine lacks, or `off: ` and the reason.
  public let confinement: [Role: String]
  /// The kinds of sound that cannot be captured, and why, as text for people. The host tries again.
  /// After the broadcast has ended, those that could not be captured at its end.
  public let missingSound: [SampleBufferType: String]
  /// The settings that the extension does not use, and why, as text for people. The former values
  /// count.
  public let refusedSettings: [String: String]
  /// Where the extension sends, with the figures of the last seconds, as it reports them; after
  /// the end, the final ones.
  public let destinations: [DestinationFigures]
  /// The number of times the extension was started.
  public let attempt: Int
  /// Nil until the broadcast has ended.
  public let ending: BroadcastEnding?
  /// The running processes, as identified by the kernel.
  public let pids: [Role: Int32]
  /// Whether every process has died without recording the ending.
  let isDead: Bool
  /// Whether its host passes setup information to the extension.
  package var passesSetupOn: Bool { phase.isActive && options[SessionOptions.setupKey] != nil }

  /// - Throws: ``BroadcastError`` if the record cannot be read.
  public init(of group: AppGroup, as role: Role) throws(BroadcastError) {
    try self.init(of: group, SessionBoard(group, as: role))
  }

  init(of group: AppGroup, _ board: SessionBoard) throws(BroadcastError) {
    let record = try board.read()
    var processes: [Role: PeerProcess] = [:]
    let found = [Role.host, .extension].compactMap { role in
      RolePresence.find(role, in: group).map { (role, $0) }
    }
    for (role, presence) in found { processes[role] = presence.process }
    if let record, let stream = record.capturedStream {
      processes[.capture] = RolePresence.capture(
        of: record.session, publishing: stream, in: group)
    }
    pids = processes.mapValues(\.credentials.pid)
    session = record?.session
    extensionID = record?.extensionID ?? ""
    source = record.map { SourceKind.shown($0.source) } ?? ""
    applicationID = record?.application ?? ""
    options = record?.optionTexts ?? [:]
    confinement = record?.confinement ?? [:]
    missingSound = record?.unheardSound ?? [:]
    attempt = record?.attempt ?? 0
    isDead = record?.phase.isActive == true && processes.isEmpty && found.isEmpty
    phase = isDead ? .finished : record?.phase ?? .idle
    ending = isDead ? .died(signal: nil) : record?.ending
    pauses = isDead ? [] : record?.pauses ?? []
    connectionFailure = isDead ? "" : record?.connectionFailure ?? ""
    refusedSettings = isDead ? [:] : record?.refusedSettings ?? [:]
    requested = !isDead && record?.phase.isActive == true ? record?.requested : nil
    isFinishing = requested == .finish
    // Those of an extension that has died are old.
    destinations =
      isDead || phase.isActive && pids[.extension] == nil
      ? [] : session.map(board.destinations) ?? []
    isCaptured = (try? ScreenCapturedState(in: group).isCaptured) ?? true
  }
}
