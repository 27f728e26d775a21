import Capture
import CredentialStore
import Platform
import SharedDefaults

/// The options with which a session was started, kept in its record: a host that adopts the session
/// restarts its capture with them, and a later start with other options is told so.
struct SessionOptions: Hashable, Sendable {
  var capture = CaptureSettings()
  /// Without what may be a secret.
  var soundSources = BroadcastRequest.usualSoundSources
  /// Of those that are not whole.
  var soundDigests: [SampleBufferType: SecretDigest] = [:]
  var isConfined = true
  var requiresConfinement = false
  var restartLimit = RestartPolicy().maximumInARow
  /// The names of what is passed to the extension. The values are sealed.
  var setupNames: [String] = []
  /// The origin of the server that the setting `whipURL` named.
  var server: String?
  /// The consent text that replaced the usual one. Only compared: a host shows its own.
  var consent: String?
  /// In seconds; nil for no limit.
  var duration: Double?
  /// When the duration has passed.
  var end = Deadline.never
  /// Values that this build cannot read, by the name of their option. Kept, because the process of
  /// another build that wrote them can.
  private(set) var unread: [String: String] = [:]

  init() {}

  /// - Parameter settings: how the source is captured, with what the extension's manifest adds; nil
  ///   for what the request itself says.
  init(_ request: BroadcastRequest, capturing settings: CaptureSettings? = nil) {
    capture = settings ?? request.capture
    soundSources = request.soundSources.mapValues(SourceKind.shown)
    isConfined = request.isConfined
    requiresConfinement = request.requiresConfinement
    restartLimit = request.restarts.maximumInARow
    setupNames = request.setup.names
    server =
      request.destination?.server?.origin
      ?? request.server.flatMap { WebAddress(server: $0)?.origin }
    consent = request.consent
    duration = request.duration.map { $0 / .seconds(1) }
    end = request.duration.map(Deadline.after) ?? .never
  }

  /// The options that are a source.
  static let sourceNames: KeyValuePairs<SampleBufferType, String> = [
    .audioApp: "app-source", .audioMic: "mic-source",
  ]

  /// Each option as text for people, by its name on a command line.
  var shown: [String: String] {
    var texts = [
      "protect": (capture.protection ?? .on([])).text,
      "confine": isConfined ? "on" : "off", "restarts": "\(restartLimit)",
      "require-confinement": requiresConfinement ? "on" : "off",
    ]
    texts["duration"] = duration.map { "\($0) s" }
    if !setupNames.isEmpty { texts[Self.setupKey] = setupNames.joined(separator: ", ") }
    texts["server"] = server
    for (type, name) in Self.sourceNames {
      texts[name] = soundSources[type].map(SourceKind.shown) ?? "none"
    }
    texts["consent"] = consent
    for option in CaptureSettings.Option.allCases {
      texts[option.rawValue] = capture.text(of: option)
    }
    return texts.merging(unread) { $1 }
  }

  /// What a request sets that is set otherwise here. What is passed to the extension is compared by
  /// its values, elsewhere.
  func differences(
    to request: BroadcastRequest
  ) throws(BroadcastError) -> [BroadcastDifference] {
    let (wanted, running, unset) = (Self(request).shown, shown, request.unsetOptions)
    var differences: [BroadcastDifference] = []
    for (name, text) in wanted.sorted(by: { $0.key < $1.key }) {
      if name == Self.setupKey || unset.contains(name) { continue }
      if name == "protect", includesProtection(of: request) { continue }
      if let (type, _) = Self.sourceNames.first(where: { $0.value == name }) {
        if try captures(type, from: request.soundSources[type]) { continue }
      } else if text == running[name] ?? CaptureSettings.Option(rawValue: name)?.usualText {
        continue
      }
      differences.append(
        BroadcastDifference(option: name, running: running[name], requested: text))
    }
    return differences
  }

  /// Whether no window that a request hides is shown.
  private func includesProtection(of request: BroadcastRequest) -> Bool {
    switch (capture.protection ?? .on([]), request.capture.protection) {
    case (_, nil): true
    case (.off, .off?): true
    case (.on(let running), .on(let wanted)?):
      Set(wanted).subtracting([.marked]).isSubset(of: running)
    case (.off, .on?), (.on, .off?): false
    }
  }
}

extension BroadcastRequest {
  /// The options of a session that this request leaves as they are. The sandbox is not one of them:
  /// nobody should believe to have one.
  fileprivate var unsetOptions: Set<String> {
    let isSet = [
      "protect": capture.protection != nil, "app-source": ownSoundSources[.audioApp] != nil,
      "mic-source": ownSoundSources[.audioMic] != nil, "restarts": ownRestarts != nil,
      "require-confinement": requiresConfinement,
    ]
    return Set(isSet.filter { !$0.value }.keys)
  }
}

/// An option that a running session has with another value than a request.
public struct BroadcastDifference: Hashable, Sendable, CustomStringConvertible {
  /// Its name on a command line, such as `fps`.
  public let option: String
  /// Nil if the session has no value for it.
  public let running: String?
  /// The value that the request has.
  public let requested: String

  public var description: String {
    "\(option) is \(running?.plain ?? "not set"), not \(requested.plain)"
  }
}

// MARK: - As a value of a suite

extension SessionOptions {
  static let setupKey = "setup-info"
  private static func maximumBytes(of name: String) -> Int {
    switch name {
    // Enough for the longest list of windows.
    case "protect", setupKey: WindowRule.maximumCount * (WindowRule.maximumBytes + 1)
    case "consent": BroadcastConsent.maximumTextBytes
    default: BroadcastRecord.maximumTextBytes
    }
  }
  private static let names =
    [
      "no-protect", "protect", "app-source", "mic-source", "app-source-digest",
      "mic-source-digest", "confine", "require-confinement", "restarts", "consent", "duration",
      "end", "server", setupKey,
    ] + CaptureSettings.Option.allCases.map(\.recordKey)

  var value: DefaultsValue {
    var values: [String: String] = [
      "confine": "\(isConfined)", "require-confinement": "\(requiresConfinement)",
      "restarts": "\(restartLimit)",
    ]
    for option in CaptureSettings.Option.allCases {
      values[option.recordKey] = capture.text(of: option)
    }
    switch capture.protection {
    case .off?: values["no-protect"] = "true"
    // No rule contains a space.
    case .on(let rules)?: values["protect"] = rules.map(\.text).joined(separator: " ")
    case nil: break
    }
    values["duration"] = duration.map { "\($0)" }
    if end != .never { values["end"] = "\(end.monotonicNs)" }
    if !setupNames.isEmpty { values[Self.setupKey] = setupNames.joined(separator: " ") }
    values["server"] = server
    values["consent"] = consent
    values["app-source"] = soundSources[.audioApp]
    values["mic-source"] = soundSources[.audioMic]
    values["app-source-digest"] = soundDigests[.audioApp]?.text
    values["mic-source-digest"] = soundDigests[.audioMic]?.text
    return .dictionary(values.merging(unread) { $1 }.mapValues { .string($0) })
  }

  /// Reads each option by itself, so that a session of any build can be seen and stopped: one that
  /// is missing, or that this build cannot read, has its default.
  init(_ value: DefaultsValue?) {
    guard case .dictionary(let values)? = value else { return }
    soundSources = [:]
    for name in Self.names {
      guard case .string(let text)? = values[name] else { continue }
      guard text.utf8.count <= Self.maximumBytes(of: name) else { continue }
      if !set(name, text) { unread[name] = text }
    }
  }

  /// - Returns: false if the text cannot be read. Of a list, the rest counts.
  private mutating func set(_ name: String, _ text: String) -> Bool {
    switch name {
    case "protect":
      let texts = text.split(separator: " ").map(String.init)
      let rules = texts.prefix(WindowRule.maximumCount).compactMap { try? WindowRule($0) }
      capture.protection = .on(rules)
      return rules.count == texts.count
    case Self.setupKey:
      setupNames = text.split(separator: " ").map(String.init)
      return setupNames.count <= SessionSetup.maximumKeys + 1
        && setupNames.allSatisfy(SessionSetup.isKey)
    case "no-protect": capture.protection = .off
    case "server": server = text
    case "consent": consent = text
    case "app-source": soundSources[.audioApp] = text
    case "mic-source": soundSources[.audioMic] = text
    case "app-source-digest": soundDigests[.audioApp] = SecretDigest(text)
    case "mic-source-digest": soundDigests[.audioMic] = SecretDigest(text)
    case "confine", "require-confinement":
      guard let isOn = Bool(text) else { return false }
      if name == "confine" { isConfined = isOn } else { requiresConfinement = isOn }
    case "duration":
      guard let seconds = Double(text), seconds.isFinite else { return false }
      duration = seconds
    case "end":
      guard let monotonicNs = UInt64(text) else { return false }
      end = Deadline(monotonicNs: monotonicNs)
    case "restarts":
      guard let limit = Int(text), limit >= 0 else { return false }
      restartLimit = limit
    default:
      guard let option = CaptureSettings.Option.allCases.first(where: { $0.recordKey == name })
      else { return false }
      return (try? capture.set(option, text)) != nil
    }
    return true
  }
}

extension CaptureSettings.Option {
  /// Its name in a record, which takes no key that looks like a secret's.
  fileprivate var recordKey: String { self == .secret ? "sealed-name" : rawValue }
}
