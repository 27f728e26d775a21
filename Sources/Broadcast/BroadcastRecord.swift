import AppGroup
import Platform
import SharedDefaults

/// What is so of a broadcast, and what is wanted. Any member that may publish can write it, so it
/// is read with care: whatever is no record is none.
struct BroadcastRecord: Hashable, Sendable {
  /// What the host wants of the extension.
  enum Wish: String, Sendable { case run, pause, finish }

  var session: SessionID
  var phase = BroadcastPhase.starting
  var wish = Wish.run
  /// Sorted, without doubles.
  var pauses: [BroadcastPause] = []
  var extensionID: String
  /// What is captured, as the user named it.
  var source: String
  /// The stream of pictures, by which its capture is found.
  var stream: String
  /// The streams of sound that its host has captured.
  var sound = SampleSources([:])
  /// How often the extension was started.
  var attempt = 0
  /// The application in front, if anybody tells.
  var application = ""
  /// How far each role that was started is confined, for a person.
  var confinement: [Role: String] = [:]
  var ending: BroadcastEnding?

  /// The longest text.
  static let maximumTextBytes = 512
  /// Where counting stops.
  static let maximumAttempts = 1_000_000

  /// Counts one more start of the extension.
  mutating func beginAttempt() {
    attempt = min(attempt + 1, Self.maximumAttempts)
    phase = .starting
    pauses = []
  }

  /// Ends it, unless it has ended.
  mutating func end(_ ending: BroadcastEnding) {
    guard phase != .finished else { return }
    phase = .finished
    wish = .finish
    pauses = []
    self.ending = ending
  }

  var isCaptured: Bool { phase == .live }
}

// MARK: - As a value of a suite

extension BroadcastRecord {
  var value: DefaultsValue {
    var values: [String: DefaultsValue] = [
      "boot": .data(bootID()), "session": .string(session.text), "phase": .string(phase.rawValue),
      "wish": .string(wish.rawValue), "extension": .string(extensionID),
      "pauses": .array(pauses.map { .integer(Int($0.rawValue)) }), "source": .string(source),
      "stream": .string(stream), "sound": .string(sound.description),
      "attempt": .integer(attempt), "application": .string(application),
    ]
    values["ending"] = ending?.value
    if !confinement.isEmpty {
      values["confinement"] = .dictionary(
        Dictionary(
          uniqueKeysWithValues: confinement.map { ($0.key.rawValue, .string($0.value)) }))
    }
    return .dictionary(values)
  }

  /// - Returns: nil for what is no record, and for one of before the machine's last start.
  init?(_ value: DefaultsValue?) {
    guard case .dictionary(let values)? = value, case .data(bootID())? = values["boot"] else {
      return nil
    }
    func text(_ key: String) -> String? {
      guard case .string(let text)? = values[key], text.utf8.count <= Self.maximumTextBytes else {
        return nil
      }
      return text
    }
    guard let session = text("session").flatMap(SessionID.init),
      let phase = text("phase").flatMap(BroadcastPhase.init),
      let wish = text("wish").flatMap(Wish.init),
      let extensionID = text("extension"), let source = text("source"),
      let stream = text("stream"), let sound = text("sound").flatMap(SampleSources.init),
      let application = text("application"),
      case .integer(let attempt)? = values["attempt"],
      (0...Self.maximumAttempts).contains(attempt),
      case .array(let pauses)? = values["pauses"]
    else { return nil }
    guard let confinement = Self.confinement(values["confinement"]) else { return nil }
    let ending = values["ending"].flatMap { BroadcastEnding($0) }
    guard (phase == .finished) == (ending != nil) else { return nil }
    self.init(
      session: session, phase: phase, wish: wish,
      pauses: BroadcastPause.allCases.filter { pauses.contains(.integer(Int($0.rawValue))) },
      extensionID: extensionID, source: source, stream: stream, sound: sound, attempt: attempt,
      application: application, confinement: confinement, ending: ending)
  }

  private static func confinement(_ value: DefaultsValue?) -> [Role: String]? {
    guard let value else { return [:] }
    guard case .dictionary(let values) = value, values.count <= Role.publishing.count else {
      return nil
    }
    var confinement: [Role: String] = [:]
    for (key, value) in values {
      guard let role = Role(rawValue: key), case .string(let text) = value,
        text.utf8.count <= Self.maximumTextBytes
      else { return nil }
      confinement[role] = text
    }
    return confinement
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
