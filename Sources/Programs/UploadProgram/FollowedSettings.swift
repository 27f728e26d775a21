import Broadcast
import SharedDefaults
import Synchronization
import Upload

/// A setting of the group that a running upload follows.
enum FollowedSetting: String, CaseIterable {
  case bitrate = "uploadBitrate"
  case frameRate = "uploadFrameRate"
  case muted = "uploadMuted"
  case address = "whipURL"
  case destinations = "uploadDestinations"
}

/// A setting with a value that cannot be used. Any member may write settings.
struct MalformedSetting: Error, CustomStringConvertible {
  let description: String

  init(_ setting: FollowedSetting, _ use: String) {
    description = "the setting \(setting.rawValue) is malformed; use \(use)"
  }
}

/// The current values of the followed settings, and whether they have changed.
///
/// Confined to the upload's thread; settings change on another one.
final class FollowedSettings {
  private let suite: SharedDefaults
  private let settings: [FollowedSetting]
  private let changed = ChangeFlag()
  private var observation: DefaultsObservation?
  private var taken: [FollowedSetting: DefaultsValue] = [:]
  /// Called when a new session begins at another address.
  var onMove: () -> Void = {}
  /// Called with the destinations to add and to remove; returns the change in words.
  var onDestinations: (ListedDestinations, any Destination) throws -> String = { _, _ in "" }

  /// - Parameters:
  ///   - settings: those that no option overrides.
  ///   - wake: called on another thread at each change.
  init(
    _ settings: [FollowedSetting], in suite: SharedDefaults,
    wake: @escaping @Sendable () -> Void = {}
  ) throws(DefaultsError) {
    self.suite = suite
    self.settings = settings
    observation = try suite.observe { [changed] _ in
      changed.raise()
      wake()
    }
  }

  var hasChanged: Bool { changed.isRaised }

  /// Applies the values that have changed. In place of a malformed one, the one before it stays.
  /// - Parameter done: called for each, with the change in words.
  func apply(
    to pump: inout UploadPump, _ done: (FollowedSetting, Result<String, any Error>) -> Void
  ) {
    guard hasChanged else { return }
    for (setting, value) in takeChanges() {
      done(setting, Result { try apply(setting, value, &pump) })
    }
  }

  /// - Returns: the change in words.
  private func apply(
    _ setting: FollowedSetting, _ value: DefaultsValue?, _ pump: inout UploadPump
  ) throws -> String {
    switch setting {
    case .bitrate:
      let rate = try value?.bitsPerSecond()
      pump.destination.use(bitsPerSecond: rate)
      return "the bitrate is " + (rate.map { "\($0) bit/s" } ?? "that of the picture's size")
    case .frameRate:
      pump.framesPerSecond = try value?.framesPerSecond()
      return pump.framesPerSecond.map { "at most \($0) pictures a second are sent" }
        ?? "every picture is sent"
    case .muted:
      pump.isMuted = try value?.isMuted() ?? false
      return pump.isMuted ? "the sound is muted" : "the sound is on"
    case .destinations: return try onDestinations(ListedDestinations(value), pump.destination)
    case .address:
      // Without a value, the present server stays.
      if let address = try value?.webAddress(), try pump.destination.move(to: address) { onMove() }
      return "sends to \(pump.destination.output)"
    }
  }

  /// Takes the values that differ from those taken before; nil for a removed one.
  private func takeChanges() -> [(setting: FollowedSetting, value: DefaultsValue?)] {
    changed.lower()
    return settings.compactMap { setting in
      let value = suite.value(forKey: setting.rawValue)
      guard value != taken[setting] else { return nil }
      taken[setting] = value
      return (setting, value)
    }
  }
}

private final class ChangeFlag: Sendable {
  /// The values at the start are to be applied too.
  private let value = Mutex(true)

  var isRaised: Bool { value.withLock { $0 } }
  func raise() { value.withLock { $0 = true } }
  func lower() { value.withLock { $0 = false } }
}

extension DefaultsValue {
  /// The longest text of a followed setting, in bytes: that of a web address.
  private static let maximumTextBytes = 2048

  /// A text, or a URL.
  private var text: String? {
    switch self {
    case .string(let text), .url(let text):
      text.utf8.count <= Self.maximumTextBytes ? text : nil
    default: nil
    }
  }

  func bitsPerSecond() throws(MalformedSetting) -> Int {
    let text = if case .integer(let number) = self { "\(number)" } else { text ?? "" }
    guard let rate = try? EncoderSettings.bitsPerSecond(text) else {
      throw MalformedSetting(.bitrate, "bits per second, such as 2500k or 4M")
    }
    return rate
  }

  func framesPerSecond() throws(MalformedSetting) -> Int {
    let number = if case .integer(let number) = self { number } else { text.flatMap { Int($0) } }
    guard let number, (1...1000).contains(number) else {
      throw MalformedSetting(.frameRate, "a whole number from 1 to 1000")
    }
    return number
  }

  func isMuted() throws(MalformedSetting) -> Bool {
    if case .bool(let isMuted) = self { return isMuted }
    guard let text, let isMuted = Bool(text) else {
      throw MalformedSetting(.muted, "true or false")
    }
    return isMuted
  }

  func webAddress() throws(MalformedSetting) -> String {
    guard let text, !text.isEmpty else {
      throw MalformedSetting(.address, "the address of a WHIP server, https://HOST/PATH")
    }
    return text
  }
}

extension SharedDefaults {
  /// The server of the destination `whip`, from the group's settings.
  func whipAddress() throws -> String {
    guard let value = value(forKey: FollowedSetting.address.rawValue) else {
      throw BroadcastServerError.missing(name)
    }
    return try value.webAddress()
  }
}

/// An extension follows the setting `whipURL`, and its host names no server that was agreed to.
struct NoAgreedServer: Error, CustomStringConvertible {
  var description: String {
    "the host handed over no server for the destination whip; name framebus-upload itself as the"
      + " extension's program, or give it an address, whip:https://HOST/PATH"
  }
}
