import AppGroup
import Broadcast
import Capture
import CommandLineSupport
import CredentialStore
import FrameBus
import NotifyCenter
import Platform
import SharedDefaults
import Synchronization
import Upload

/// The broadcast of a demo, with this process as the host. It does the work of a host application,
/// from settings and sign-in to the end of the extension.
struct DemoBroadcast {
  let group: AppGroup
  let terminal: Terminal
  let stop: StopSignal

  private static let extensionID = "framebus.demo"
  private static let bitrate = "4M"
  /// How long a slow machine may take to deliver the first sample to the extension.
  private static let liveTimeout = Duration.seconds(60)

  /// Broadcasts a screen into a file for `duration`, or until it is stopped.
  /// - Returns: the session.
  func run(
    of screen: DemoScreen, to output: String, framesPerSecond: Int, for duration: Duration
  ) throws -> SessionID {
    try prepare(output)
    let transitions = try DemoTransitions(in: group, terminal)
    defer { transitions.end() }
    let controller = try BroadcastController(in: group) { event in
      if let line = event.problemLine { terminal.report(line) }
    }
    var request = BroadcastRequest(extensionID: Self.extensionID, source: screen.source)
    request.compositor = screen.compositor
    request.capture.frameRate = FrameRate(framesPerSecond)
    // A virtual screen has only the demo's own windows, so its frames need no copy. No window of
    // a Wayland compositor can be protected.
    if screen.isVirtual, screen.compositor == nil { request.capture.protection = .off }
    // No other host would adopt the roles.
    request.rolesEndWithHost = true
    let session = try controller.start(request).session
    let followed = Result { try follow(controller, for: duration) }
    if try controller.isBroadcasting { try controller.finish() }
    let ending = try controller.waitForEnding(of: session) ?? .died(signal: nil)
    try followed.get()
    guard ending == .finished else { throw DemoError.notFinished(ending) }
    return session
  }

  /// Writes settings for every member, seals a token for the extension and registers it.
  private func prepare(_ output: String) throws {
    try SharedDefaults(in: group).set(Self.bitrate, forKey: EncoderSettings.Keys.bitrate)
    terminal.report("settings   \(EncoderSettings.Keys.bitrate) is \(Self.bitrate)")
    let name = try CredentialName(service: "demo", account: "token")
    try CredentialStore.create(in: group).set(name, .random(byteCount: 32))
    terminal.report("token      \(name), sealed by the host, handed over only to the extension")
    var manifest = try ExtensionManifest.builtin(
      id: Self.extensionID, destination: "file:\(output)", credentials: [name.description])
    // Pictures only, because many machines that run a demo have no sound server.
    manifest.samples = [.video]
    try ExtensionRegistry(group).register(manifest)
  }

  // MARK: While the broadcast is active

  /// Shows progress until `duration` has passed since the first sample.
  private func follow(_ controller: BroadcastController, for duration: Duration) throws {
    let waiting = Deadline.after(Self.liveTimeout)
    var end: Deadline?
    var pace = DemoPace(group)
    var unreported = [Role.capture, .extension]
    defer { if end != nil { terminal.endProgress() } }
    while !(end?.isPast ?? false), !stop.isRaised {
      let status = try controller.status
      guard status.phase.isActive else { return }
      if end == nil, status.phase == .live { end = .after(duration) }
      // A busy capture may answer only the next time.
      if end != nil { unreported.removeAll { report($0, status) } }
      if end == nil, waiting.isPast { throw DemoError.neverLive(Self.liveTimeout) }
      if end != nil, let line = try pace.line() { terminal.progress(line) }
      _ = try firstReadable(stop.descriptorNumber, until: min(end ?? .never, pace.nextPoll))
    }
  }

  /// - Returns: false if the role's process is not known yet.
  private func report(_ role: Role, _ status: BroadcastStatus) -> Bool {
    guard let pid = status.pids[role] else { return false }
    let confinement = status.confinement[role] ?? "unknown"
    terminal.report("\(role)".padded(to: 10) + " process \(pid), confined: \(confinement)")
    return true
  }
}

/// Shows each change of a broadcast through its notification, as any member receives it.
private final class DemoTransitions: Sendable {
  private let center: NotifyCenter
  private let name: NotificationName
  private let observation: Observation
  private let display: Display

  init(in group: AppGroup, _ terminal: Terminal) throws {
    center = try NotifyCenter(group, role: .host)
    name = try NotificationName(BroadcastNames.state)
    let display = Display(name, terminal)
    self.display = display
    observation = try center.observe(name) { display.show($0.state) }
  }

  /// Shows the current state, whose notification may not have arrived yet.
  func end() {
    observation.cancel()
    if let state = try? center.state(of: name) { display.show(state) }
  }

  private final class Display: Sendable {
    private let name: NotificationName
    private let terminal: Terminal
    private let shown = Mutex("")

    init(_ name: NotificationName, _ terminal: Terminal) {
      self.name = name
      self.terminal = terminal
    }

    /// Skips notifications that do not change the text.
    func show(_ state: UInt64) {
      let word = StateWord(rawValue: state)
      let text = ([word.phase.rawValue] + word.pauses.map(\.description)).joined(separator: ", ")
      shown.withLock { shown in
        if text != shown { terminal.report("notified   \(name): \(text)") }
        shown = text
      }
    }
  }
}

/// The frame rate between two polls.
private struct DemoPace {
  private let group: AppGroup
  private let stream: StreamName?
  private var polledAtNs = monotonicNowNs()
  private var earlier: StreamReport?

  private static let intervalNs: UInt64 = 500_000_000

  init(_ group: AppGroup) {
    self.group = group
    stream = try? StreamName(SampleBufferType.video.usualStream)
  }

  var nextPoll: Deadline { Deadline(monotonicNs: polledAtNs + Self.intervalNs) }

  /// - Returns: nil before the next poll is due, and for the first one.
  mutating func line() throws -> String? {
    guard nextPoll.isPast else { return nil }
    let nowNs = monotonicNowNs()
    let report = try StreamInspector(group).poll().first { $0.name == stream }
    defer { (earlier, polledAtNs) = (report, nowNs) }
    guard let report, let earlier else { return nil }
    let seconds = Double(nowNs - polledAtNs) / 1e9
    let activity = StreamActivity(report, since: earlier, seconds: seconds)
    guard let subscriber = activity.subscribers.first?.status else { return nil }
    let rate = (activity.framesPerSecond * 10).rounded() / 10
    return "\(subscriber.received) frames, \(rate) fps, \(subscriber.drops.reduce(0, +)) drops"
  }
}

extension BroadcastEvent {
  /// Events that no notification reports; nil for all others.
  fileprivate var problemLine: String? {
    switch self {
    case .roleLost(let role, let why, _): "the \(role) \(why.plain)"
    case .roleRestarted(let role): "the \(role) was restarted"
    default: nil
    }
  }
}
