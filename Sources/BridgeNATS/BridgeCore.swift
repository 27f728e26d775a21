#if Media
  import AppGroup
  import Bridge
  import NotifyCenter
  import Platform
  import Synchronization

  /// What the threads of a bridge share.
  final class BridgeCore: Sendable {
    let group: AppGroup
    let center: NotifyCenter
    let machine: MachineName
    let subjects: BridgeSubjects
    let state: BridgeState
    let work: BridgeWork
    /// This machine's wall clock beside the server's; nil until measured.
    let clock = Mutex<ClockOffset?>(nil)
    /// Whether the server has had all streams once.
    let isReady = Atomic<Bool>(false)
    private let refusals = Mutex<Set<String>>([])
    private let access: NATSAccess
    private let report: @Sendable (BridgeEvent) -> Void

    init(
      _ group: AppGroup, _ center: NotifyCenter, as machine: MachineName, _ access: NATSAccess,
      report: @escaping @Sendable (BridgeEvent) -> Void
    ) throws {
      self.group = group
      self.center = center
      self.machine = machine
      self.access = access
      self.report = report
      subjects = BridgeSubjects(group.id)
      state = try BridgeState(in: group)
      work = try BridgeWork()
    }

    /// - Parameter wake: raised at the end of each connection.
    func link(named part: String, wake: EventCounter, isDriven: Bool = false) -> NATSLink {
      NATSLink(
        access, named: "framebus \(group.id) \(machine) \(part)", wake: wake, isDriven: isDriven)
    }

    // A server can restrict a machine to its own subjects, so what came under another's is not its.

    /// The note in a message; nil if it is malformed or of another machine.
    func note(_ message: NATSMessage) -> Note? {
      note(message.bytes.span, under: message.subject.utf8.span)
    }

    func note(_ bytes: Span<UInt8>, under subject: Span<UInt8>) -> Note? {
      guard let note = Note(parsing: bytes), subjects.isSubject(subject, of: note) else {
        return nil
      }
      return note
    }

    /// The report in a message, likewise.
    func report(_ message: NATSMessage) -> MachineReport? {
      guard let report = MachineReport(parsing: message.bytes),
        message.subject == subjects.report(of: report.machine)
      else { return nil }
      return report
    }

    func say(_ text: String) { report(.info(text)) }
    func warn(_ text: String) { report(.warning(text)) }
    func sayConnected() { report(.connected) }
    func sayDisconnected(_ why: String) { report(.disconnected(why)) }

    /// Warns once of each subject that the server does not let this machine use.
    func sayRefusals(of link: NATSLink) {
      for text in link.takeRefusals() {
        let isNew = refusals.withLock { known in
          known.count < Self.mostRefusals && known.insert(text).inserted
        }
        if isNew {
          warn(
            "the server refuses this machine's user: \(text); allow it in the user's permissions")
        }
      }
    }

    private static let mostRefusals = 64
  }

  /// What a bridge tells its user.
  package enum BridgeEvent: Sendable, Equatable {
    case info(String)
    case warning(String)
    case connected
    case disconnected(String)
  }

  /// Requests to the thread that waits for the server.
  final class BridgeWork: Sendable {
    enum Request: Hashable {
      /// Deliver the newest notes that the server has.
      case catchUp
      /// Make the streams that the server lacks.
      case streams
      /// A suite has changed, there or here; the token of its name.
      case suite(String)
    }

    private struct State {
      var requests: Set<Request> = []
      var reports: [MachineName: MachineReport] = [:]
      var known: [MachineName: Summary] = [:]
    }

    let counter: EventCounter
    private let state = Mutex(State())
    private static let maximumRequests = 256
    private static let maximumReports = 1024

    init() throws(SystemError) { counter = try EventCounter() }

    func request(_ request: Request) {
      state.withLock { state in
        guard state.requests.count < Self.maximumRequests else { return }
        state.requests.insert(request)
      }
      counter.raise()
    }

    /// Wakes nobody for a report like the last one: the thread polls within its pace.
    func note(_ report: MachineReport) {
      let isNews = state.withLock { state in
        guard state.reports.count < Self.maximumReports else { return false }
        state.reports[report.machine] = report
        let summary = Summary(streams: report.streams, hasLeft: report.hasLeft)
        if state.known[report.machine] == summary { return false }
        guard state.known[report.machine] != nil || state.known.count < Self.maximumReports else {
          return true
        }
        state.known[report.machine] = summary
        return true
      }
      if isNews { counter.raise() }
    }

    /// What of a report is news if it changes.
    private struct Summary: Equatable {
      let streams: [MachineReport.Stream]
      let hasLeft: Bool
    }

    func take() -> (requests: Set<Request>, reports: [MachineReport]) {
      counter.lower()
      return state.withLock { state in
        defer { (state.requests, state.reports) = ([], [:]) }
        return (state.requests, Array(state.reports.values))
      }
    }
  }
#endif
