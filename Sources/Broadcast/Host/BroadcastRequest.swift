import AppGroup
import Capture
import CredentialStore
import FrameBus
import Platform
import SharedDefaults
import Sound

/// The parameters of a broadcast.
public struct BroadcastRequest: Sendable {
  /// The extension that receives the samples.
  public var extensionID: String
  /// The source, in the syntax of `framebus capture`, such as `screen` or `test:bars`, or
  /// `stream:NAME` for what an application of the group publishes. At most ``maximumSourceBytes``.
  public var source: String
  /// How the source is captured. The extension's manifest can set what is nil here. Windows
  /// that ask not to be seen are black, unless `protection` is `off`.
  public var capture = CaptureSettings()
  /// Sound sources in the syntax of `framebus capture`, for an extension that requests sound. The
  /// host does not capture a kind without a source; another process may. Setting them sets each
  /// kind; a start compares those that were set with a running session.
  public var soundSources: [SampleBufferType: String] {
    get {
      var sources = Self.usualSoundSources
      for (type, source) in ownSoundSources { sources[type] = source }
      return sources
    }
    set {
      for type in SampleBufferType.allCases {
        ownSoundSources.updateValue(newValue[type], forKey: type)
      }
    }
  }
  /// The kinds of ``soundSources`` that were set, also to the usual source or to none.
  package var ownSoundSources: [SampleBufferType: String?] = [:]
  /// The kinds of sound to switch on or off. A new session starts the others as `SoundSwitch`
  /// does, and a running one keeps them. ``BroadcastController/sound`` changes them later.
  public var sound: [SampleBufferType: Bool] = [:]
  /// Whether a start that finds the session running with other options changes those that can be
  /// changed while it runs: the sound, further protected windows, which stay in the group's
  /// setting, and an earlier end (``duration``, counted from then).
  public var appliesToRunning = false
  /// Streams that replace ``SampleBufferType/usualStream``.
  public var streams: [SampleBufferType: StreamName] = [:]
  /// Whether capture and extension are killed when the host's process ends, as in a demo.
  /// Otherwise they continue, and the next host adopts them.
  package var rolesEndWithHost = false
  /// The socket of the Wayland compositor to capture; nil for the one that `WAYLAND_DISPLAY` names.
  /// A host that adopts the session does not know it.
  package var compositor: String?
  /// The consent text, at most ``BroadcastConsent/maximumTextBytes``; nil for one that fits the
  /// sources.
  public var consent: String?
  /// Who agreed; nil if nobody was asked: such a request joins a running session, but begins none
  /// that requires consent. It is logged once per session, before the first frame.
  public var consentGiver: BroadcastConsent.Giver? = .application
  /// The consent that was shown, from ``BroadcastError/consentRequired(_:)``. If the broadcast
  /// would differ from it by now, the start throws that error again, with what would happen.
  public var agreed: BroadcastConsent?
  /// The server that the setting `whipURL` may name, such as `https://live.example.com`. A start
  /// needs it, or ``agreed``, if its extension follows that setting, which any member can write.
  public var server: String?
  /// Where the extension sends, as the host found it at the start.
  var destination: BroadcastDestination?
  /// When roles that die are restarted.
  public var restarts: RestartPolicy {
    get { ownRestarts ?? RestartPolicy() }
    set { ownRestarts = newValue }
  }
  /// Nil unless ``restarts`` was set.
  var ownRestarts: RestartPolicy?
  /// Whether to sandbox capture and extension. ``BroadcastStatus/confinement`` and the log show how
  /// far this machine supports it.
  public var isConfined = true
  /// Whether to refuse a broadcast of which this machine cannot confine every role in full.
  public var requiresConfinement = false
  /// Typed values that the host passes to the extension, by names of letters, digits, “.”, “-” and
  /// “_”: ``SetupInfo/values``. At most 32, and 16 KiB together. They reach it at each start, also
  /// under another host of the session, and are sealed in the group's credential store meanwhile,
  /// so only the group's owner can pass on something.
  public var setupInfo: [String: DefaultsValue] {
    get { setup.values }
    set { setup.values = newValue }
  }
  /// The title of the broadcast, for the extension: ``SetupInfo/title``.
  public var title: String? {
    get { setup.title }
    set { setup.title = newValue }
  }
  /// Stored credentials that the host hands over besides those of the manifest, by the names under
  /// which the extension opens them: ``SetupInfo/secret(_:)``.
  public var setupSecrets: [String: CredentialName] {
    get { setup.secrets }
    set { setup.secrets = newValue }
  }
  var setup = SessionSetup()
  /// An opened credential store, such as one with a passphrase. If nil, the store is opened at each
  /// start of an extension that requests credentials, or of a capture with a secret, and must open
  /// without a prompt.
  public var credentials: CredentialStore?
  /// How long the broadcast lasts; nil for no limit. The time counts from its start, also under
  /// another host.
  public var duration: Duration?
  /// How long the extension may take to finish after it is asked to.
  public var finishTimeout = defaultFinishTimeout
  /// How long an application that publishes its own frames may take to take its name.
  var answerTimeout = Duration.seconds(1)

  static let usualSoundSources: [SampleBufferType: String] = [
    .audioApp: "pulse:monitor", .audioMic: "pulse:mic",
  ]
  static let defaultFinishTimeout = Duration.seconds(10)

  /// The longest source, in bytes of UTF-8.
  public static let maximumSourceBytes = BroadcastRecord.maximumTextBytes

  /// A request with the usual options.
  public init(extensionID: String, source: String) {
    self.extensionID = extensionID
    self.source = source
  }

  /// - Parameter source: such as `.screen(display: nil)`, or `.stream(name)` for the frames that an
  ///   application of the group publishes, as this one may. Nothing is captured then.
  public init(extensionID: String, source: SourceSpecification) {
    self.init(extensionID: extensionID, source: "\(source)")
  }
}

extension BroadcastRequest {
  /// The streams of the samples that an extension requests.
  func sources(for manifest: ExtensionManifest) -> SampleSources {
    var sources: [SampleBufferType: StreamName] = [:]
    for type in manifest.samples { sources[type] = stream(of: type) }
    return SampleSources(sources)
  }

  /// The stream of the leading samples: pictures, if the extension receives any.
  package func leadingStream(for manifest: ExtensionManifest) -> StreamName? {
    sources(for: manifest).inOrder.first?.stream
  }

  /// The stream of a kind of samples. Nothing replaces those of a source that is a stream.
  func stream(of type: SampleBufferType) -> StreamName? {
    if let published = publishedStream { return try? type.stream(beside: published) }
    return streams[type] ?? (try? StreamName(type.usualStream))
  }

  /// The stream that an application publishes, if that is the source: nothing captures it.
  var publishedStream: StreamName? { Self.publishedStream(of: source) }

  static func publishedStream(of source: String) -> StreamName? {
    if case .stream(let name)? = try? SourceSpecification(source) { name } else { nil }
  }

  /// Throws if the extension could not receive what is passed on, or the source cannot have an
  /// option.
  package func checkOptions() throws(BroadcastError) {
    try setup.check()
    // The record shows less of some sources.
    if source.utf8.count > Self.maximumSourceBytes {
      throw .textTooLong(maximumBytes: Self.maximumSourceBytes)
    }
    if let server, WebAddress(server: server) == nil { throw .server(.malformed(server)) }
    guard let published = publishedStream else {
      guard let kind = (try? SourceSpecification(source))?.kind else { return }
      do throws(CaptureOptionError) { try kind.check(capture, besides: [.silence]) } catch {
        throw .option(error)
      }
      return
    }
    // The microphone is captured beside the stream, and its silence has a limit.
    var options = CaptureSettings.Option.allCases
      .filter { $0 != .silence && capture.text(of: $0) != nil }.map(\.rawValue)
    if let protection = capture.protection {
      options.append(protection == .off ? "no-protect" : "protect")
    }
    if let own = soundSources[.audioApp], own != Self.usualSoundSources[.audioApp] {
      options.append("app-source")
    }
    if !streams.isEmpty { options.append("stream") }
    if !options.isEmpty { throw .optionsOfCapture(published, options) }
  }

  /// The sound of a new session.
  var initialSound: SoundSwitch {
    let usual = SoundSwitch()
    return SoundSwitch(app: sound[.audioApp] ?? usual.app, mic: sound[.audioMic] ?? usual.mic)
  }

  /// The same request with the streams and options of a running session. Any member can write the
  /// record, so it only adds protection: it names no source, and lifts no restriction.
  func adopting(_ record: BroadcastRecord) -> BroadcastRequest {
    var request = self
    var running = record.options.capture
    (running.whileSaver, running.allowsWayland) = (nil, nil)
    // Nobody else chooses which credential reaches the source's server.
    running.secret = nil
    if running.content == .other { running.content = nil }
    request.capture = capture.completed(by: running)
    request.requiresConfinement = requiresConfinement || record.options.requiresConfinement
    request.streams.merge(record.sound.streams) { $1 }
    if let stream = try? StreamName(record.stream) { request.streams[.video] = stream }
    return request
  }

  /// How the source, and the sound beside it, is captured for an extension. Nothing but this
  /// request turns protection off.
  func captureSettings(for manifest: ExtensionManifest) -> CaptureSettings {
    let kind = (try? SourceSpecification(source))?.kind
    var preferences = manifest.preferences(for: source)
    if let kind { preferences = preferences.limited(to: kind.options.union([.silence])) }
    var settings = capture.completed(by: preferences)
    settings.frameRate = settings.frameRate ?? kind?.usualFrameRate
    if let kind, kind.needs != .display {
      settings.protection = nil
    } else {
      settings.protection.add([])
      // A broadcast lasts, even if nobody touches the keyboard.
      settings.whileSaver = settings.whileSaver ?? .inhibit
    }
    return settings
  }

  /// The protection of the windows, as text for people. A source without any names those that the
  /// manifest or the group's setting would hide.
  func protectionText(for manifest: ExtensionManifest) -> String {
    let settings = captureSettings(for: manifest)
    guard let kind = (try? SourceSpecification(source))?.kind, let why = kind.protectionObstacle
    else { return (settings.protection ?? .on([])).text }
    let named = unprotected(for: manifest)
    return named.isEmpty ? why : "\(why), so \(named.joined(separator: ", ")) can be seen"
  }

  /// The windows that the manifest or the group's setting names, if the source may show them, and
  /// nothing can hide them.
  func unprotected(for manifest: ExtensionManifest) -> [String] {
    let needs = (try? SourceSpecification(source))?.kind.needs
    let hidesNothing: [SourceKind.Needs?] = [
      .anything, .network, .publisher, .compositor, .grant,
    ]
    guard hidesNothing.contains(needs),
      case .on(let rules)? = capture.completed(by: manifest.capture).protection
    else { return [] }
    return rules.filter { $0 != .marked }.map(\.text)
  }

  /// Whether the sound comes with the pictures, from their capture or their application.
  var hasSoundInSource: Bool { (try? SourceSpecification(source))?.kind.hasSound == true }

  /// The source that a separate process captures; nil for none.
  func soundSource(of type: SampleBufferType) -> String? {
    type == .audioApp && hasSoundInSource ? nil : soundSources[type]
  }

  /// The sound streams that separate processes capture.
  func capturedSound(for manifest: ExtensionManifest) -> SampleSources {
    SampleSources(
      sources(for: manifest).streams.filter { type, _ in
        type != .video && soundSource(of: type) != nil
      })
  }
}

/// When a role that died is restarted.
public struct RestartPolicy: Hashable, Sendable {
  /// The restart limit: how often in a row. The next death ends the broadcast.
  public var maximumInARow = 5
  /// The delay before the first restart. It doubles with each further restart.
  public var firstDelay: Duration = .milliseconds(200)
  /// The longest delay.
  public var longestDelay: Duration = .seconds(10)
  /// A process that ran this long resets the count of deaths in a row.
  public var resetAfter: Duration = .seconds(5)

  /// The usual policy.
  public init() {}

  init(maximumInARow: Int, firstDelay: Duration, longestDelay: Duration) {
    self.maximumInARow = maximumInARow
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
  }

  /// A policy without restarts.
  public static var never: RestartPolicy {
    var policy = RestartPolicy()
    policy.maximumInARow = 0
    return policy
  }

  /// The delay after `count` deaths in a row; nil for no restart.
  func delay(afterDeaths count: Int) -> Duration? {
    guard count <= maximumInARow else { return nil }
    var delay = firstDelay
    for _ in 1..<max(1, count) where delay < longestDelay { delay *= 2 }
    return min(delay, longestDelay)
  }
}

/// An event of a broadcast, for its host.
public enum BroadcastEvent: Hashable, Sendable {
  /// A session started, or this host adopted a running one.
  case started(SessionID, isAdopted: Bool)
  /// The extension's destination accepts no samples, yet or any more; with the reason why the last
  /// attempt failed, which is empty before the first has.
  case connecting(failure: String)
  /// The extension's destination has accepted a sample.
  case live
  /// Samples do not reach the extension, for these reasons.
  case paused([BroadcastPause])
  /// Samples reach the extension again.
  case resumed
  /// A role's process ended. It restarts after the delay; nil if it does not.
  case roleLost(Role, why: String, restartsIn: Duration?)
  /// The program started as a role has not taken the role in time.
  case roleSilent(Role, program: String)
  /// A role's process was restarted.
  case roleRestarted(Role)
  /// A role is confined only in part, or not: how, as in ``BroadcastStatus/confinement``.
  case confinedInPart(Role, String)
  /// A start has changed these options of the running session.
  case changed([BroadcastDifference])
  /// Sound cannot be captured. The broadcast continues without it, and the host tries again.
  case soundLost(SampleBufferType, why: String)
  /// Sound that could not be captured is captured again.
  case soundBack(SampleBufferType)
  /// It has ended.
  case finished(BroadcastEnding)
}
