import AppGroup
import FrameBus
import Platform

/// What is so of a group's broadcast, as any member finds it.
public struct BroadcastStatus: Hashable, Sendable {
  public let phase: BroadcastPhase
  /// Nil if there was none since the machine started.
  public let session: SessionID?
  public let pauses: [BroadcastPause]
  /// Whether the host has asked the extension to finish.
  public let isFinishing: Bool
  /// Whether the screen is being captured.
  public let isCaptured: Bool
  public let extensionID: String
  public let source: String
  public let applicationID: String
  /// How far each role was confined when it was started, for a person: `on`, `on, without …` and
  /// what this machine cannot do, or `off: ` and why.
  public let confinement: [Role: String]
  /// How often the extension was started.
  public let attempt: Int
  /// Nil until it has ended.
  public let ending: BroadcastEnding?
  /// The processes that are there, by the kernel's word.
  public let pids: [Role: Int32]
  /// Whether it is over, and nobody was left to write that down.
  let isDead: Bool

  /// - Throws: ``BroadcastError``, where the record cannot be read.
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
    if let record, let stream = try? StreamName(record.stream) {
      processes[.capture] = RolePresence.capture(
        of: record.session, publishing: stream, in: group)
    }
    pids = processes.mapValues(\.credentials.pid)
    session = record?.session
    extensionID = record?.extensionID ?? ""
    source = record?.source ?? ""
    applicationID = record?.application ?? ""
    confinement = record?.confinement ?? [:]
    attempt = record?.attempt ?? 0
    isDead = record?.phase.isActive == true && processes.isEmpty && found.isEmpty
    phase = isDead ? .finished : record?.phase ?? .idle
    ending = isDead ? .died(signal: nil) : record?.ending
    pauses = isDead ? [] : record?.pauses ?? []
    isFinishing = !isDead && record?.phase.isActive == true && record?.wish == .finish
    isCaptured = !isDead && record?.isCaptured == true
  }
}
