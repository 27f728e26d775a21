import AppGroup
import ArgumentParser
import Broadcast
import Capture
import CommandLineSupport
import CredentialStore
import FrameBus
import Platform
import Sound

/// `framebus broadcast start [EXTENSION] [--source SOURCE]`.
struct BroadcastStart: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Start a broadcast and host it until it ends.",
    discussion: """
      Without EXTENSION, reads the choice from standard input; an empty line cancels. If none is \
      registered, it sends to the WHIP server of the group's setting whipURL. Before it captures a \
      screen, a microphone, a device or the sound of the machine, it shows what others will see \
      and asks; without a terminal, --yes has to agree. The same goes for the server of whipURL, \
      which --server has to name. Ctrl-C stops the broadcast. If this process dies, capture and \
      extension continue, and the next `broadcast start` with the same extension and source takes \
      them over. While the broadcast runs, a start with the same options follows it; one with \
      others is refused, or --apply changes what can be changed.
      """)

  @Argument(
    help: ArgumentHelp(
      "Extension ID, from `framebus extension list`.", valueName: "extension"))
  var `extension`: String?
  @Option(
    help: ArgumentHelp(
      "Source, as for `framebus capture`, or one of those here.",
      discussion: SourceKind.list { $0.program == nil }, valueName: "source"))
  var source = "screen"
  @OptionGroup(title: "Capture") var capture: CaptureSettingOptions
  @OptionGroup(title: "Initial sound, for an extension that requests it")
  var sound: SoundSwitchOptions
  @Option(
    help: ArgumentHelp(
      "Source of application sound (default: pulse:monitor).",
      valueName: "source"))
  var appSource: String?
  @Option(
    help: ArgumentHelp(
      "Source of microphone sound (default: pulse:mic).", valueName: "source"))
  var micSource: String?
  @Option(
    help: ArgumentHelp(
      "Picture stream (default: screen).",
      discussion: "The sound streams are then NAME.audio.app and NAME.audio.mic.",
      valueName: "name"))
  var stream: String?
  @Option(
    help: ArgumentHelp(
      "Consent text, shown to the user and logged.",
      discussion: "The default says what others will see and hear.", valueName: "text"))
  var consent: String?
  @Flag(help: "Agree to the consent text without a question.")
  var yes = false
  @Option(
    help: ArgumentHelp(
      "Server that the setting whipURL may name.",
      discussion: """
        Such as https://live.example.com. Any member can write the setting, so --yes agrees only \
        to a server that is named here.
        """,
      valueName: "url"))
  var server: String?
  @Option(
    help: ArgumentHelp("Restart a crashed role at most N times in a row.", valueName: "n"))
  var restarts: Int?
  @Option(
    help: ArgumentHelp(
      "Save the last minute to this file if the extension dies.",
      discussion: """
        For an extension that uploads to replay:60s. PATH.mkv or PATH.mp4; the files after it are \
        called NAME-2, NAME-3 and so on. `framebus replay` saves it at any other time.
        """,
      valueName: "file"))
  var onCrash: String?
  @Flag(
    inversion: .prefixedNo,
    help: "Sandbox capture and extension; `status` shows the effect.")
  var confine = true
  @Flag(help: "After a failure, run the application that the extension names.")
  var goToApplication = false
  @Flag(
    help: ArgumentHelp(
      "Change sound, protection or end of a running broadcast.",
      discussion: """
        Windows of --protect are added to the group's setting protectedWindows, and --duration \
        counts from now. Nothing becomes visible, and the end is not postponed.
        """))
  var apply = false
  @Option(help: ArgumentHelp("Stop S seconds after the start.", valueName: "s"))
  var duration: Double?
  @Flag(
    help: ArgumentHelp(
      "Return once the broadcast is live, and hold no terminal.",
      discussion: """
        Exit status \(DetachedHost.notLiveStatus) if it runs, but its destination has not accepted \
        a sample: after the first failed attempt, or \(DetachedHost.timeoutSeconds) s. The same \
        goes for a broadcast that another process has started. Where systemd runs for the user, \
        the host is a service, which it restarts after a kill if --yes agrees.
        """))
  var detach = false
  @Option(help: ArgumentHelp("Pipe of --detach, set by it.", visibility: .hidden))
  var detachedTo: String?
  @Flag(help: "Refuse to start if a role cannot be sandboxed in full.")
  var requireConfinement = false
  @OptionGroup(title: "For the extension") var setup: SetupOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if let restarts, !(0...1000).contains(restarts) {
      throw ValidationError("--restarts \(restarts): use 0 to 1000")
    }
    if source.utf8.count > BroadcastRequest.maximumSourceBytes {
      throw ValidationError(
        "--source: use at most \(BroadcastRequest.maximumSourceBytes) bytes, not"
          + " \(source.utf8.count)")
    }
    if let duration, !(duration > 0 && duration <= 1e9) {
      throw ValidationError("--duration \(duration): use a number of seconds above 0, up to 1e9")
    }
    if requireConfinement, !confine {
      throw ValidationError("--require-confinement: --no-confine asks for the opposite; omit one")
    }
    if detach, let number = store.passphraseFd, number > 0 {
      throw ValidationError(
        "--detach passes on no descriptor but standard input; use --passphrase-fd 0")
    }
    if let consent, !(1...BroadcastConsent.maximumTextBytes).contains(consent.utf8.count) {
      throw ValidationError(
        "--consent: use 1 to \(BroadcastConsent.maximumTextBytes) bytes, not"
          + " \(consent.utf8.count)")
    }
    if let onCrash, ![".mkv", ".mp4"].contains(where: onCrash.lowercased().hasSuffix) {
      throw ValidationError("--on-crash \(onCrash): end the path in .mkv or .mp4")
    }
    do { _ = try streams() } catch { throw ValidationError("--stream: \(error)") }
    try checkSources()
  }

  private func streams() throws(StreamNameError) -> [SampleBufferType: StreamName] {
    guard let stream else { return [:] }
    let pictures = try StreamName(stream)
    var streams: [SampleBufferType: StreamName] = [:]
    for type in SampleBufferType.allCases { streams[type] = try type.stream(beside: pictures) }
    return streams
  }

  /// Rejects sources that `framebus capture` would reject, and options that the source cannot have,
  /// before any process starts.
  private func checkSources() throws {
    do {
      let kind = try CaptureOptions.parse(["--", source]).specification().kind
      if kind.hasSound, appSource != nil {
        let origin = kind.program == nil ? "from its application" : "with its pictures"
        throw UsageError("--app-source: the sound of \(source) comes \(origin); leave it out")
      }
      for text in [appSource, micSource].compactMap(\.self) {
        _ = try CaptureOptions.parse(["--", text]).programName()
      }
      try request("", of: source).checkOptions()
    } catch {
      throw ValidationError(
        (error as? UsageError)?.description ?? (error as? BroadcastError)?.description
          ?? CaptureOptions.message(for: error))
    }
  }

  func run() throws {
    if detach { return try startDetachedHost() }
    // Before any thread starts, because all threads must block the signals.
    let signals = try SignalWatcher()
    let detached = try detachedTo.flatMap { try DetachedHost(reportingTo: $0) }
    let group = try global.openGroup(creatingLocal: true)
    let terminal = global.terminal
    let saver = crashSaver
    let manager = detached?.isService ?? true ? ServiceManager() : nil
    defer { saver?.wait() }
    let controller = try BroadcastController(in: group, heartbeat: manager?.heartbeat) { event in
      manager?.note(event)
      if case .roleLost(.extension, _, _) = event { saver?.saveCrashed(terminal) }
      if detached != nil, DetachedHost.isReportedLater(event) { return }
      if let line = event.line { terminal.report(line) }
    }
    var hasMicrophone: Bool?
    guard let picked = try `extension` ?? pick(controller, &hasMicrophone, stop: signals.stop)
    else {
      throw try cancelled(controller, signals)
    }
    var request = try request(picked, of: sourceWithWindowID(source, stop: signals.stop))
    if let hasMicrophone { request.sound[.audioMic] = hasMicrophone }
    try prepare(saver, for: request, controller)
    try controller.requireOwner(toPassOn: request)
    request.credentials = try openedStore(controller, picked)
    guard let started = try start(request, controller, stop: signals.stop) else {
      throw try cancelled(controller, signals)
    }
    let isJoined = started == .joined(started.session)
    if isJoined {
      terminal.report("broadcast \(started.session) is already active; following it")
      manager?.ready()
    }
    if let detached, try waitUntilUp(detached, started.session, controller, signals) {
      if isJoined {
        let status = try printSession(started.session, controller)
        if status != 0 { throw ExitCode(status) }
        return
      }
      letGo(detached, of: started.session, controller)
    }
    var ending = try controller.waitForEnding(of: started.session, stop: signals.stop)
    if ending == nil {
      // A process that only follows does not stop the broadcast.
      if isJoined { throw Interrupted() }
      try controller.finish()
      ending = try controller.waitForEnding(of: started.session)
    }
    let missing = try controller.status.missingSound
    try report(ending ?? .died(signal: nil), of: started.session, missing: missing) {
      guard let offer = ApplicationOffer(of: picked, in: group, global) else { return }
      try offer.make(isAccepted: goToApplication, stop: signals.stop)
    }
    if signals.isInterrupted { throw Interrupted() }
  }

  /// Starts the broadcast, after the user has agreed to it.
  /// - Returns: nil if the user does not agree.
  private func start(
    _ requested: BroadcastRequest, _ controller: BroadcastController, stop: StopSignal
  ) throws -> BroadcastController.Started? {
    var request = requested
    while true {
      let consent: BroadcastConsent
      do throws(BroadcastError) { return try controller.start(request) } catch {
        if case .server(let error) = error, error.isMisuse { throw UsageError("\(error)") }
        guard case .consentRequired(let required) = error else { throw error }
        consent = required
      }
      guard isTerminal(0), isTerminal(2) else {
        throw UsageError("\(BroadcastError.consentRequired(consent))")
      }
      if request.agreed != nil { global.terminal.report("This has changed meanwhile.") }
      guard try isAgreed(to: consent, stop: stop) else { return nil }
      (request.consentGiver, request.agreed) = (.terminal, consent)
    }
  }

  private func isAgreed(to consent: BroadcastConsent, stop: StopSignal) throws -> Bool {
    // Shown with --quiet too.
    let terminal = Terminal()
    discardTyped(0)
    terminal.report(consent.text)
    for choice in consent.choices { terminal.report("  \(choice.name): \(choice.value)") }
    terminal.report("Start this broadcast? Enter yes to agree; anything else cancels.")
    return try typedLine(stop: stop).lowercased() == "yes"
  }

  /// Records that no broadcast was started.
  /// - Returns: the error that ends this process.
  private func cancelled(
    _ controller: BroadcastController, _ signals: SignalWatcher
  ) throws -> any Error {
    try controller.cancelPick()
    return signals.isInterrupted ? Interrupted() : AlreadyReported()
  }

  private func request(_ picked: String, of source: String) throws -> BroadcastRequest {
    var request = BroadcastRequest(extensionID: picked, source: source)
    request.streams = try streams()
    request.capture = try capture.settings()
    request.sound = sound.values
    request.appliesToRunning = apply
    if let appSource { request.ownSoundSources[.audioApp] = appSource }
    if let micSource { request.ownSoundSources[.audioMic] = micSource }
    request.isConfined = confine
    request.requiresConfinement = requireConfinement
    request.consent = consent
    request.consentGiver = yes ? .option : nil
    request.server = server
    request.duration = duration.map { .seconds($0) }
    try setup.set(in: &request)
    if let restarts { request.restarts.maximumInARow = restarts }
    return request
  }

  /// Opens the credential store once, for every start of a role.
  /// - Returns: nil if nothing is handed to one, or another process is the host, with
  ///   which what is passed on need not be compared.
  private func openedStore(
    _ controller: BroadcastController, _ picked: String
  ) throws -> CredentialStore? {
    let group = controller.group
    let manifest = try ExtensionRegistry(group).manifest(of: picked)
    let status = try controller.status
    let secret = try capture.settings().secret ?? manifest.capture.secret
    let handsOver = !manifest.credentials.isEmpty || status.passesSetupOn || secret != nil
    guard !setup.isEmpty || handsOver && status.pids[.host] == nil,
      try CredentialStore.exists(in: group)
    else { return nil }
    return try store.open(store.prepared(global), as: .host)
  }

  /// Asks the user for an extension: with the keys of `broadcast pick` on a terminal, otherwise by
  /// its name or number on a line.
  /// - Parameter hasMicrophone: set if the user switches the microphone.
  /// - Returns: nil if the user cancels.
  private func pick(
    _ controller: BroadcastController, _ hasMicrophone: inout Bool?, stop: StopSignal
  ) throws -> String? {
    let registry = ExtensionRegistry(controller.group)
    let entries = try registry.list()
    if entries.isEmpty { throw BroadcastError.noExtension }
    if entries.map(\.id) == [ExtensionManifest.whipID] { return ExtensionManifest.whipID }
    if ExtensionPicker.isPossible {
      let usual = sound.values[.audioMic] ?? SoundSwitch().mic
      var picker = ExtensionPicker(
        entries, preferred: try registry.preferredID(), hasMicrophone: usual)
      let choice = try picker.pick(for: controller, stop: stop)
      if let choice, choice.hasMicrophone != usual { hasMicrophone = choice.hasMicrophone }
      return choice?.id
    }
    for (index, entry) in entries.enumerated() {
      global.terminal.report("\(index + 1)  \(entry.id)")
    }
    global.terminal.report("Which extension? Enter a number or a name; an empty line cancels.")
    let line = try typedLine(stop: stop)
    if line.isEmpty { return nil }
    if let number = Int(line), (1...entries.count).contains(number) {
      return entries[number - 1].id
    }
    return line
  }

  /// - Returns: the typed line; empty if a signal arrived first.
  private func typedLine(stop: StopSignal) throws -> String {
    let (newline, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    var bytes: [UInt8] = []
    while !bytes.contains(newline), bytes.count <= BroadcastRequest.maximumSourceBytes {
      if try waitUntilReadable([stop.descriptorNumber, 0], until: .never)[0] { return "" }
      let more = try typedBytes()
      if more.isEmpty { break }
      bytes += more
    }
    return String(
      decoding: bytes.prefix { $0 != newline && $0 != carriageReturn }, as: UTF8.self)
  }

  /// - Returns: an empty array at end of file, and if standard input is closed.
  private func typedBytes() throws(SystemError) -> [UInt8] {
    do { return try readSome(0) } catch {
      if error.isClosedDescriptor { return [] }
      throw error
    }
  }

  /// - Parameter onFailure: called once the user knows why the broadcast failed.
  private func report(
    _ ending: BroadcastEnding, of session: SessionID, missing: [SampleBufferType: String],
    onFailure: () throws -> Void
  ) throws {
    if global.json {
      try global.terminal.printJSON(SessionReport(session, ending, missing), onOneLine: true)
    }
    if !missing.isEmpty { global.terminal.report("it ended\(missing.ending)") }
    switch ending {
    case .finished: return
    case .cancelled: throw AlreadyReported()
    case .died: throw BroadcastEnded(ending: ending)
    case .failed:
      global.terminal.error("\(BroadcastEnded(ending: ending))")
      try onFailure()
      throw AlreadyReported()
    }
  }
}

struct SessionReport: Encodable {
  let session: String
  let ending: EndingReport
  /// The sound that could not be captured at the end, by its kind, and why.
  let missingSound: [String: String]

  init(_ session: SessionID, _ ending: BroadcastEnding, _ missing: [SampleBufferType: String]) {
    self.session = session.text
    self.ending = EndingReport(ending)
    missingSound = Dictionary(uniqueKeysWithValues: missing.map { ($0.key.rawValue, $0.value) })
  }
}

/// A broadcast that did not finish cleanly.
private struct BroadcastEnded: Error, CustomStringConvertible {
  let ending: BroadcastEnding

  var description: String {
    switch ending {
    case .failed(let failure):
      "the broadcast failed: \(failure.description.plain)"
    case .died(signal: _?):
      "the extension \(ending); see `framebus log`, or start the broadcast again"
    default:
      "the broadcast \(ending); see `framebus log`, or start it again"
    }
  }
}

extension BroadcastEvent {
  /// The text for the terminal; nil if the final error reports the event.
  var line: String? {
    switch self {
    case .started(let session, let isAdopted):
      isAdopted ? "taking over the broadcast \(session)" : "broadcast \(session)"
    case .connecting(let failure):
      failure.isEmpty ? "connecting" : "connecting: \(failure.plain)"
    case .live: "live"
    case .paused(let reasons):
      "paused: \(reasons.map(\.explanation).joined(separator: "; "))"
    case .resumed: "live again"
    case .roleLost(let role, let why, let delay?):
      "the \(role) \(why.plain); restarting it in \(delay)"
    case .roleLost(_, _, nil), .finished(.failed), .finished(.died): nil
    case .roleSilent(let role, let program):
      "\(program.plain) runs as the \(role), but has not called BroadcastExtension.run: set"
        + " executable in the manifest to a program that does; `framebus broadcast stop` ends it"
    case .roleRestarted(let role): "the \(role) was restarted"
    case .confinedInPart(let role, let how): "the \(role) is confined in part: \(how.plain)"
    case .changed(let changes):
      "changed: " + changes.map { "\($0.option) \($0.requested)" }.joined(separator: ", ")
    case .soundLost(let type, let why):
      "no \(type.rawValue): \(why.plain); the broadcast continues without it and tries again"
    case .soundBack(let type): "\(type.rawValue) is captured again"
    case .finished(let ending): "\(ending)"
    }
  }
}
