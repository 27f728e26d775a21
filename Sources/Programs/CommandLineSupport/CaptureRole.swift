import AppGroup
import Capture
import Confinement
import FrameBus
import Platform
import SharedLog

/// The common part of the capture programs: signals, group, progress and summary.
public struct CaptureRole {
  private let options: CaptureOptions
  private let terminal: Terminal
  private let global: GlobalOptions
  private let signals: SignalWatcher
  private let session: CaptureSession
  private let front: FrontAnnouncer
  private let captured: CapturedAnnouncer?

  /// Call it before any thread starts, because all threads must block the signals.
  /// - Parameter soundMissing: called with the reason while the source delivers only silence, and
  ///   with nil once it delivers sound again.
  public init(
    _ options: CaptureOptions, _ global: GlobalOptions,
    soundMissing: (@Sendable (String?, AppGroup) -> Void)? = nil
  ) throws {
    self.options = options
    terminal = global.terminal
    self.global = global
    signals = try SignalWatcher()
    let group = try global.openGroup(creatingLocal: true)
    let stream = try options.stream()
    ProductLog.begin(
      try options.programName(), in: group, as: .capture, global, options: options.logged,
      isSilent: environmentValue(CaptureRetry.variable) != nil)
    let terminal = terminal
    let front = FrontAnnouncer(of: stream, in: group, terminal)
    self.front = front
    captured = global.capturedAnnouncer(in: group, preferring: .capture)
    let announcer = StreamAnnouncer(of: stream, in: group, global)
    session = CaptureSession(
      group: group, stream: stream, soundKind: options.soundKind, stop: signals.stop,
      frameLimit: options.frames.map(UInt64.init),
      duration: options.duration.map { .seconds($0) },
      streamChanged: { change in
        front.streamChanged(change)
        announcer.announce(change)
      },
      soundSwitched: { kind, isOn in Self.reportSwitch(kind, isOn, terminal) },
      soundFormatKnown: { Self.reportFormat($0, terminal) },
      soundMuted: { [source = options.source] mute in
        let why = mute.explanation.map { "\(LoggedText.address(source)): \($0)" }
        Self.report(why ?? "there is sound again", terminal)
        soundMissing?(why, group)
      },
      noticed: { Self.report($0, terminal) },
      frontChanged: front.announce)
    let session = session
    front.start { [weak session] in session?.annotate($0) }
  }

  private static func reportSwitch(_ kind: FrameFormat.Kind, _ isOn: Bool, _ terminal: Terminal) {
    let name = kind == .micAudio ? "mic" : "app"
    let text =
      isOn
      ? "its sound is switched on"
      : "its sound is switched off: `framebus broadcast sound --\(name) on` switches it on"
    report(text, terminal)
  }

  /// Whether this process is in a sandbox, which has only what was there when it was made.
  public static var isConfined: Bool { environmentValue(ConfinedProcess.variable) != nil }

  /// Waits, in a capture that a broadcast has started again, before it fails because its source is
  /// not back: the broadcast gives up a capture that fails at once.
  public static func waitIfRestarted() {
    if environmentValue(CaptureRetry.restartVariable) != nil { sleep(until: .after(.seconds(6))) }
  }

  private static func report(_ text: String, _ terminal: Terminal) {
    ProductLog.append(.notice, text)
    terminal.report(text)
  }

  /// Runs a call of a media library; Ctrl-C ends the process at once meanwhile.
  public func interruptible<Failure>(_ call: () throws(Failure) -> Void) throws(Failure) {
    try ProductLog.interruptible(signals, call)
  }

  /// The windows that the options name. The group's setting, which the capture follows, must be
  /// well-formed.
  public func protection() throws -> WindowProtection? {
    let protection = try options.settings().protection
    if protection == .off {
      terminal.warn("--no-protect: windows that ask not to be seen are shown")
    } else {
      _ = try WindowRule.setting(of: session.group)
    }
    return protection
  }

  /// Whether the group's setting names windows that must not be seen.
  public func hasProtectedWindows() throws -> Bool {
    try !WindowRule.setting(of: session.group).isEmpty
  }

  /// Reports the format of a source's sound, before its first sound.
  private static func reportFormat(_ format: AudioFormat, _ terminal: Terminal) {
    ProductLog.setSilent(false)
    ProductLog.append(
      .info, "sound format",
      [
        LogField("sampleRate", "\(format.sampleRate)"),
        LogField("channels", "\(format.channelCount)"),
        LogField("samples", "\(format.sampleFormat)"),
      ])
    terminal.report(
      "sound is \(format.sampleRate) Hz, \(format.channelCount) channels, "
        + "\(format.sampleFormat)")
  }

  /// A session for a second stream, with its own stop signal.
  public func session(beside stream: StreamName) throws -> CaptureSession {
    let terminal = terminal
    return CaptureSession(
      group: session.group, stream: stream, soundKind: options.soundKind, stop: try StopSignal(),
      streamChanged: StreamAnnouncer(of: stream, in: session.group, global).announce,
      soundSwitched: { kind, isOn in Self.reportSwitch(kind, isOn, terminal) },
      soundFormatKnown: { Self.reportFormat($0, terminal) })
  }

  /// Runs a source until it ends and shows progress on standard error.
  public func run<Source: FrameSource>(_ source: Source) throws {
    let display = CaptureProgress(terminal, stream: session.stream)
    var source = source
    defer {
      front.end()
      captured?.end()
    }
    let figures = try CaptureRunner(session).run(&source) { display.show($0) }
    terminal.endProgress()
    ProductLog.append(.notice, "capture ended", figures.logged)
    if global.json {
      let summary = CaptureSummary(
        figures, stream: session.stream, source: options.source,
        isStopped: session.stop.isRaised)
      try terminal.printJSON(summary, onOneLine: true)
    } else {
      terminal.report(CaptureProgress.line(figures, since: nil))
    }
    if signals.isInterrupted { throw Interrupted() }
  }
}

extension SoundMute {
  /// Nil if nothing is muted.
  fileprivate var explanation: String? {
    switch self {
    case .nothing: nil
    case .device:
      "the sound server has muted the device, or its volume is 0; `pactl list sources` shows it"
    case .monitoredOutput:
      "the sound server has muted the output, or its volume is 0; `pactl list sinks` shows it"
    }
  }
}

extension CaptureFigures {
  fileprivate var logged: [LogField] {
    [
      LogField("frames", "\(frames)"), LogField("missed", "\(missedDeadlines)"),
      LogField("unchanged", "\(unchanged)"), LogField("copied", "\(copied)"),
      LogField("elapsedNs", "\(elapsedNs)"),
    ]
  }
}

/// The summary as JSON.
private struct CaptureSummary: Encodable {
  let stream: String
  let source: String
  let frames: UInt64
  let fps: Double
  let elapsedNs: UInt64
  let missedDeadlines: UInt64
  let unchanged: UInt64
  let copiesPerFrame: Double
  let end: String

  enum CodingKeys: String, CodingKey {
    case stream, source, frames, fps, unchanged, missedDeadlines, end
    case elapsedNs = "elapsed_ns"
    case copiesPerFrame = "copies_per_frame"
  }

  init(_ figures: CaptureFigures, stream: StreamName, source: String, isStopped: Bool) {
    self.stream = "\(stream)"
    self.source = source
    frames = figures.frames
    fps = (figures.framesPerSecond() * 1000).rounded() / 1000
    elapsedNs = figures.elapsedNs
    missedDeadlines = figures.missedDeadlines
    unchanged = figures.unchanged
    copiesPerFrame =
      figures.frames == 0 ? 0 : Double(figures.copied) / Double(figures.frames)
    end = isStopped ? "stopped" : "ended"
  }
}
