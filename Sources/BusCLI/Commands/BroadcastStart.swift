import AppGroup
import ArgumentParser
import Broadcast
import CommandLineSupport
import CredentialStore
import FrameBus
import Platform
import Sound

/// `framebus broadcast start [EXTENSION] [--source SOURCE]`.
struct BroadcastStart: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start", abstract: "Start a broadcast, and be its host until it ends.",
    discussion: """
      Without EXTENSION, one is picked by a line of standard input; an empty one cancels. Ctrl-C \
      has the extension finish. If this process dies, capture and extension go on, and the next \
      `broadcast start` of the same takes them over.
      """)

  @Argument(
    help: ArgumentHelp(
      "The extension; `framebus extension list` shows them.", valueName: "extension"))
  var `extension`: String?
  @Option(
    help: ArgumentHelp("What to capture, as `framebus capture` takes it.", valueName: "source"))
  var source = "screen"
  @Option(help: ArgumentHelp("Frames a second.", valueName: "n"))
  var fps: String?
  @Option(help: ArgumentHelp("Size, as `framebus capture` takes it.", valueName: "WxH"))
  var size: String?
  @OptionGroup(title: "Sound, if the extension wants it, at first") var sound: SoundSwitchOptions
  @Option(
    help: ArgumentHelp(
      "What to capture as the sound of applications (default: pulse:monitor).",
      valueName: "source"))
  var appSource: String?
  @Option(
    help: ArgumentHelp(
      "What to capture as the microphone (default: pulse:mic).", valueName: "source"))
  var micSource: String?
  @Option(
    help: ArgumentHelp(
      "The stream of the pictures (default: screen); of sound it is NAME.audio.app and "
        + "NAME.audio.mic then.", valueName: "name"))
  var stream: String?
  @Option(help: ArgumentHelp("What the user agrees to, for the log.", valueName: "text"))
  var consent: String?
  @Option(help: ArgumentHelp("Start a role that dies at most N times in a row.", valueName: "n"))
  var restarts: Int?
  @Flag(
    inversion: .prefixedNo,
    help: "Let capture and extension do no more than their roles need; `status` says how far.")
  var confine = true
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
    do { _ = try streams() } catch { throw ValidationError("--stream: \(error)") }
    try checkCapture()
  }

  private func streams() throws(StreamNameError) -> [SampleBufferType: StreamName] {
    guard let stream else { return [:] }
    var streams = [SampleBufferType.video: try StreamName(stream)]
    for type in [SampleBufferType.audioApp, .audioMic] {
      streams[type] = try StreamName("\(stream).\(type.usualStream)")
    }
    return streams
  }

  /// What `framebus capture` would refuse is refused before anything begins.
  private func checkCapture() throws {
    for source in [source, appSource, micSource].compactMap(\.self) {
      do {
        _ = try CaptureOptions.parse(captureOptions + ["--", source]).specification()
      } catch {
        throw ValidationError(
          (error as? UsageError)?.description ?? CaptureOptions.message(for: error))
      }
    }
  }

  private var captureOptions: [String] {
    [fps.map { "--fps=\($0)" }, size.map { "--size=\($0)" }].compactMap(\.self)
  }

  func run() throws {
    // First of all, so that no thread is without it.
    let signals = try SignalWatcher()
    let group = try global.openGroup(creatingLocal: true)
    let terminal = global.terminal
    let controller = try BroadcastController(in: group) { event in
      if let line = event.line { terminal.say(line) }
    }
    guard let picked = try `extension` ?? pick(in: group, stop: signals.stop) else {
      try controller.cancelPick()
      if signals.isInterrupted { throw Interrupted() }
      throw AlreadyReported()
    }
    var request = try request(picked)
    request.credentials = try openedStore(controller, picked)
    let started = try controller.start(request)
    if case .joined(let session) = started {
      terminal.say("the broadcast \(session) is under way already; following it")
    }
    var ending = try controller.waitForEnding(of: started.session, stop: signals.stop)
    if ending == nil {
      // Who only follows stops nothing.
      if case .joined = started { throw Interrupted() }
      try controller.finish()
      ending = try controller.waitForEnding(of: started.session)
    }
    try report(ending ?? .died(signal: nil), of: started.session)
    if signals.isInterrupted { throw Interrupted() }
  }

  private func request(_ picked: String) throws -> BroadcastRequest {
    var request = BroadcastRequest(extensionID: picked, source: source)
    request.streams = try streams()
    request.captureOptions = captureOptions
    request.sound = sound.changed(request.sound)
    if let appSource { request.soundSources[.audioApp] = appSource }
    if let micSource { request.soundSources[.audioMic] = micSource }
    request.isConfined = confine
    if let consent { request.consent = consent }
    if let restarts { request.restarts.maximumInARow = restarts }
    return request
  }

  /// Opens the credentials that the extension asks for, once: each of its starts needs them.
  /// - Returns: nil if it asks for none, and where another process is the host already.
  private func openedStore(
    _ controller: BroadcastController, _ picked: String
  ) throws -> CredentialStore? {
    let group = controller.group
    let manifest = try ExtensionRegistry(group).manifest(of: picked)
    guard !manifest.credentials.isEmpty, try CredentialStore.exists(in: group),
      try controller.status.pids[.host] == nil
    else { return nil }
    return try store.open(store.prepared(global), as: .host)
  }

  /// - Returns: nil if the user cancels, by an empty line or a signal.
  private func pick(in group: AppGroup, stop: StopSignal) throws -> String? {
    let entries = try ExtensionRegistry(group).list()
    if entries.isEmpty { throw BroadcastError.noExtension }
    for (index, entry) in entries.enumerated() { global.terminal.say("\(index + 1)  \(entry.id)") }
    global.terminal.say("Which extension? A number or a name; an empty line cancels.")
    let line = try typedLine(stop: stop)
    if line.isEmpty { return nil }
    if let number = Int(line), entries.indices.contains(number - 1) {
      return entries[number - 1].id
    }
    return line
  }

  /// - Returns: what was typed, empty if a signal came first.
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

  /// - Returns: nothing at its end, and where whoever started this closed standard input.
  private func typedBytes() throws(SystemError) -> [UInt8] {
    do { return try readSome(0) } catch {
      if error.isClosedDescriptor { return [] }
      throw error
    }
  }

  private func report(_ ending: BroadcastEnding, of session: SessionID) throws {
    if global.json {
      try global.terminal.printJSON(
        SessionReport(session: session.text, ending: EndingReport(ending)), onOneLine: true)
    }
    switch ending {
    case .finished: return
    case .cancelled: throw AlreadyReported()
    case .failed, .died: throw BroadcastEnded(ending: ending)
    }
  }
}

private struct SessionReport: Encodable {
  let session: String
  let ending: EndingReport
}

/// A broadcast ended in another way than by finishing.
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
  /// For a person; nil for what the error says that ends this program.
  fileprivate var line: String? {
    switch self {
    case .started(let session, let isAdopted):
      isAdopted ? "taking over the broadcast \(session)" : "broadcast \(session)"
    case .live: "live"
    case .paused(let reasons):
      "paused: \(reasons.map(\.description).joined(separator: ", "))"
    case .resumed: "live again"
    case .roleLost(let role, let why, let delay?):
      "the \(role) \(why.plain); starting it again in \(delay)"
    case .roleLost(_, _, nil), .finished(.failed), .finished(.died): nil
    case .roleSilent(let role, let program):
      "\(program.plain) runs as the \(role), and has not called BroadcastExtension.run: name a"
        + " program in its manifest that does; `framebus broadcast stop` ends this one"
    case .roleRestarted(let role): "the \(role) was started again"
    case .finished(let ending): "\(ending)"
    }
  }
}
