import AppGroup
import FrameBus
import Platform
import SharedDefaults

/// Which sound of a group is captured: that of its applications, that of its microphone.
///
/// Two settings of the group. A broadcast sets them when it begins, and any user who may change
/// settings can change them at any time. A capture reads them before each chunk
/// (``SwitchedSound``). Sound whose setting was never set is on.
public struct SoundSwitch: Hashable, Sendable {
  public var app: Bool
  public var mic: Bool

  /// The defaults of a broadcast.
  public init(app: Bool = true, mic: Bool = false) {
    self.app = app
    self.mic = mic
  }

  /// The settings suite of a broadcast.
  public static let suiteName = "framebus.broadcast"

  /// Reads the current settings.
  public init(in suite: SharedDefaults) {
    app = suite.isOn(.appAudio)
    mic = suite.isOn(.micAudio)
  }

  /// The keys of the settings.
  package static let keys = [FrameFormat.Kind.appAudio, .micAudio].map(\.switchKey)

  /// Stores both settings in a draft.
  package func set(in draft: inout DefaultsDraft) {
    draft[FrameFormat.Kind.appAudio.switchKey] = .bool(app)
    draft[FrameFormat.Kind.micAudio.switchKey] = .bool(mic)
  }

  /// Stores both settings; all captures apply them together.
  public func set(in suite: SharedDefaults) throws(DefaultsError) {
    try Self.set(app: app, mic: mic, in: suite)
  }

  /// Stores the settings that are not nil and leaves the others unchanged, so that a change to one
  /// kind of sound does not undo a concurrent change to the other.
  public static func set(
    app: Bool?, mic: Bool?, in suite: SharedDefaults
  ) throws(DefaultsError) {
    try suite.update { draft in
      if let app { draft[FrameFormat.Kind.appAudio.switchKey] = .bool(app) }
      if let mic { draft[FrameFormat.Kind.micAudio.switchKey] = .bool(mic) }
    }
  }
}

/// The current setting for one kind of sound, for its capture.
public final class SwitchedSound: Sendable {
  private let kind: FrameFormat.Kind
  private let suite: SharedDefaults
  private let changed: EventCounter
  private let observation: DefaultsObservation

  /// - Parameter kind: `micAudio` for the microphone; any other kind is the sound of applications.
  /// - Throws: if the settings cannot be read: a microphone that may be off is not captured.
  public init(_ kind: FrameFormat.Kind, in group: AppGroup) throws(DefaultsError) {
    self.kind = kind
    let changed: EventCounter
    do throws(SystemError) { changed = try EventCounter() } catch { throw .system(error) }
    self.changed = changed
    suite = try SharedDefaults(suiteName: SoundSwitch.suiteName, in: group)
    try suite.refresh()
    observation = try suite.observe(kind.switchKey) { _ in changed.raise() }
  }

  /// Makes no system call unless a setting changed.
  public var isOn: Bool { suite.isOn(kind) }

  /// Blocks the thread until the sound is on.
  /// - Returns: false if `stop` was raised or the deadline passed first.
  package func waitUntilOn(stop: StopSignal, until deadline: Deadline) -> Bool {
    while true {
      changed.lower()
      if isOn { return true }
      if stop.isRaised || deadline.isPast { return false }
      // If the wait fails for lack of memory, poll again.
      _ = try? firstReadable(changed.number, stop.descriptorNumber, until: deadline)
    }
  }
}

extension FrameFormat.Kind {
  fileprivate var switchKey: String { self == .micAudio ? "sound.mic" : "sound.app" }
}

extension SharedDefaults {
  fileprivate func isOn(_ kind: FrameFormat.Kind) -> Bool {
    value(forKey: kind.switchKey) == nil || bool(forKey: kind.switchKey)
  }
}
