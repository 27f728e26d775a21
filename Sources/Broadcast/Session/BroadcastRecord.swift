import AppGroup
import Capture
import CredentialStore
import FrameBus
import Platform
import SharedDefaults
import Sound

/// The state that the host requests of the extension.
package enum RequestedState: String, Sendable { case run, pause, finish }

/// The actual and the requested state of a broadcast. Any publishing member can write it, so
/// parsing rejects everything malformed.
struct BroadcastRecord: Hashable, Sendable {
  var session: SessionID
  var phase = BroadcastPhase.starting
  var requested = RequestedState.run
  /// When `requested` last changed from `pause` to `run`, on the monotonic clock; 0 before.
  var resumedAtNs: UInt64 = 0
  /// Sorted, without duplicates.
  var pauses: [BroadcastPause] = []
  var extensionID: String
  /// The captured source, without what may be a secret.
  var source: String
  /// Of the whole source; nil if ``source`` is whole.
  var sourceDigest: SecretDigest?
  /// The picture stream, whose publisher is the session's capture.
  var stream: String
  /// The sound streams that the host captures.
  var sound = SampleSources([:])
  /// The options with which the session was started.
  var options = SessionOptions()
  /// The number of times the extension was started.
  var attempt = 0
  /// The front application; empty if unknown.
  var application = ""
  /// The name that a host has set for an application that publishes its own frames, until its
  /// publisher has it; else empty.
  var undeliveredApplication = ""
  /// How each started role is confined, as text for people.
  var confinement: [Role: String] = [:]
  /// The sound that no capture delivers, and why, as text for people. The session's host writes it,
  /// or the extension for a stream from outside the session.
  var missingSound: [SampleBufferType: String] = [:]
  /// The sound of which a running capture delivers only silence, and why. That capture writes it;
  /// the host ends it with the capture.
  var silentSound: [SampleBufferType: String] = [:]
  var ending: BroadcastEnding?
  /// Why the extension's last attempt to reach its destination failed; empty if none has, and once
  /// the destination accepts samples.
  var connectionFailure = ""
  /// The settings that the extension does not use, and why, as text for people.
  var refusedSettings: [String: String] = [:]
  /// The settings of the sound switch before the session, without those that were not set; nil once
  /// they are restored.
  var soundBefore: [String: Bool]?

  /// The longest text, in bytes of UTF-8.
  static let maximumTextBytes = 512
  static let maximumRefusedSettings = 16
  /// `attempt` stops counting here.
  static let maximumAttempts = 1_000_000

  /// The stream of the pictures, if a capture of the session publishes it.
  var capturedStream: StreamName? {
    BroadcastRequest.publishedStream(of: source) == nil ? try? StreamName(stream) : nil
  }

  /// The options as text for people, by their names on a command line.
  var optionTexts: [String: String] {
    var texts = options.shown
    guard let kind = (try? SourceSpecification(source))?.kind else { return texts }
    if let why = kind.protectionObstacle { texts["protect"] = why }
    // The application publishes it.
    if kind.needs == .publisher { texts["app-source"] = nil }
    return texts
  }

  /// The sound that cannot be heard, and why: the report of a running capture is the newer one.
  var unheardSound: [SampleBufferType: String] { missingSound.merging(silentSound) { $1 } }

  /// Counts another start of the extension.
  mutating func beginAttempt() {
    attempt = min(attempt + 1, Self.maximumAttempts)
    phase = .starting
    pauses = []
    connectionFailure = ""
    refusedSettings = [:]
  }

  /// Ends the broadcast, unless it has ended.
  mutating func end(_ ending: BroadcastEnding) {
    guard phase != .finished else { return }
    phase = .finished
    requested = .finish
    pauses = []
    connectionFailure = ""
    self.ending = ending
  }
}

// MARK: - As a value of a suite

extension BroadcastRecord {
  var value: DefaultsValue {
    var values: [String: DefaultsValue] = [
      "boot": .data(bootID()), "session": .string(session.text), "phase": .string(phase.rawValue),
      "requested": .string(requested.rawValue), "resumedAt": .integer(Int(clamping: resumedAtNs)),
      "extension": .string(extensionID),
      "pauses": .array(pauses.map { .integer(Int($0.rawValue)) }), "source": .string(source),
      "stream": .string(stream), "sound": .string(sound.description), "options": options.value,
      "attempt": .integer(attempt), "application": .string(application),
    ]
    if !undeliveredApplication.isEmpty {
      values["undeliveredApplication"] = .string(undeliveredApplication)
    }
    values["missingSound"] = Self.value(missingSound)
    values["silentSound"] = Self.value(silentSound)
    values["sourceDigest"] = sourceDigest.map { .string($0.text) }
    values["ending"] = ending?.value
    if !connectionFailure.isEmpty { values["connectionFailure"] = .string(connectionFailure) }
    if !refusedSettings.isEmpty {
      values["refusedSettings"] = .dictionary(refusedSettings.mapValues { .string($0) })
    }
    values["soundBefore"] = soundBefore.map { .dictionary($0.mapValues { .bool($0) }) }
    values["confinement"] = Self.value(confinement)
    return .dictionary(values)
  }

  /// Reads the record of any version. Processes of two builds run side by side while an upgrade is
  /// installed: a field that is missing has its default, and what this build does not know is
  /// ignored.
  /// - Returns: nil for a malformed record, and for one written before the machine's last boot.
  init?(_ value: DefaultsValue?) {
    guard case .dictionary(let values)? = value, case .data(bootID())? = values["boot"] else {
      return nil
    }
    func text(_ key: String, or usual: String? = nil) -> String? {
      guard let value = values[key] else { return usual }
      guard case .string(let text) = value, text.utf8.count <= Self.maximumTextBytes else {
        return nil
      }
      return text
    }
    func number(_ key: String, upTo limit: Int) -> Int? {
      guard case .integer(let number) = values[key] ?? .integer(0), (0...limit).contains(number)
      else {
        return nil
      }
      return number
    }
    guard let session = text("session").flatMap(SessionID.init), let phaseText = text("phase"),
      let requested = text("requested", or: "run").flatMap(RequestedState.init),
      let extensionID = text("extension"), let source = text("source"),
      let stream = text("stream"), let sound = text("sound", or: "").flatMap(SampleSources.init),
      let application = text("application", or: ""),
      let connectionFailure = text("connectionFailure", or: ""),
      let attempt = number("attempt", upTo: Self.maximumAttempts),
      let resumedAtNs = number("resumedAt", upTo: Int(clamping: monotonicNowNs())),
      case .array(let pauses) = values["pauses"] ?? .array([])
    else { return nil }
    // An active phase of a newer build: the broadcast can be seen and stopped.
    let phase = BroadcastPhase(rawValue: phaseText) ?? .starting
    let ending = values["ending"].flatMap { BroadcastEnding($0) }
    guard (phase == .finished) == (ending != nil) else { return nil }
    self.init(
      session: session, phase: phase, requested: requested, resumedAtNs: UInt64(resumedAtNs),
      pauses: BroadcastPause.allCases.filter { pauses.contains(.integer(Int($0.rawValue))) },
      extensionID: extensionID, source: source,
      sourceDigest: text("sourceDigest").flatMap(SecretDigest.init), stream: stream, sound: sound,
      options: SessionOptions(values["options"]), attempt: attempt, application: application,
      undeliveredApplication: text("undeliveredApplication") ?? "",
      confinement: Self.texts(of: Role.publishing, values["confinement"]),
      missingSound: Self.texts(of: SampleBufferType.allCases, values["missingSound"]),
      silentSound: Self.texts(of: SampleBufferType.allCases, values["silentSound"]),
      ending: ending, connectionFailure: connectionFailure,
      refusedSettings: Self.refusedSettings(values["refusedSettings"]),
      soundBefore: Self.soundBefore(values["soundBefore"]))
  }

  /// - Returns: nil for a malformed value, so that the settings stay as they are.
  private static func soundBefore(_ value: DefaultsValue?) -> [String: Bool]? {
    guard case .dictionary(let values)? = value else { return nil }
    var settings: [String: Bool] = [:]
    for (key, value) in values {
      guard SoundSwitch.keys.contains(key), case .bool(let isOn) = value else { return nil }
      settings[key] = isOn
    }
    return settings
  }

  private static func refusedSettings(_ value: DefaultsValue?) -> [String: String] {
    guard case .dictionary(let values)? = value, values.count <= maximumRefusedSettings else {
      return [:]
    }
    var refused: [String: String] = [:]
    for (key, value) in values {
      guard case .string(let text) = value, text.utf8.count <= Self.maximumTextBytes,
        key.utf8.count <= Self.maximumTextBytes
      else { continue }
      refused[key] = text
    }
    return refused
  }

  /// - Returns: nil for no texts.
  private static func value(
    _ texts: [some Hashable & RawRepresentable<String>: String]
  ) -> DefaultsValue? {
    if texts.isEmpty { return nil }
    return .dictionary(
      Dictionary(uniqueKeysWithValues: texts.map { ($0.key.rawValue, .string($0.value)) }))
  }

  /// The texts of a dictionary, by the keys that this build knows.
  private static func texts<Key: Hashable & RawRepresentable<String>>(
    of known: [Key], _ value: DefaultsValue?
  ) -> [Key: String] {
    guard case .dictionary(let values)? = value else { return [:] }
    var texts: [Key: String] = [:]
    for key in known {
      guard case .string(let text)? = values[key.rawValue], text.utf8.count <= maximumTextBytes
      else { continue }
      texts[key] = text
    }
    return texts
  }
}

extension BroadcastEnding {
  fileprivate var value: DefaultsValue {
    switch self {
    case .finished: ["kind": "finished"]
    case .cancelled: ["kind": "cancelled"]
    case .died(let signal): ["kind": "died", "signal": .integer(Int(signal ?? 0))]
    case .failed(let failure):
      [
        "kind": "failed", "domain": .string(failure.domain), "code": .integer(failure.code),
        "reason": .string(failure.reason), "recovery": .string(failure.recovery),
      ]
    }
  }

  fileprivate init?(_ value: DefaultsValue) {
    guard case .dictionary(let values) = value, case .string(let kind)? = values["kind"] else {
      return nil
    }
    switch kind {
    case "finished": self = .finished
    case "cancelled": self = .cancelled
    case "died":
      guard case .integer(let signal)? = values["signal"], (0...64).contains(signal) else {
        return nil
      }
      self = .died(signal: signal == 0 ? nil : Int32(signal))
    case "failed":
      guard case .string(let domain)? = values["domain"],
        case .integer(let code)? = values["code"], case .string(let reason)? = values["reason"],
        case .string(let recovery)? = values["recovery"]
      else { return nil }
      self = .failed(
        BroadcastFailure(domain: domain, code: code, reason: reason, recovery: recovery))
    default: return nil
    }
  }
}
