import AppGroup
import FrameBus
import Platform
import SharedDefaults

/// Which sound of a group is heard: of its applications, of its microphone.
///
/// Two settings of the group, which a broadcast sets when it begins and anybody who may change
/// settings can change at any time. Whoever captures sound looks before each chunk
/// (``SwitchedSound``). Sound that nobody ever switched is heard.
public struct SoundSwitch: Hashable, Sendable {
  public var app: Bool
  public var mic: Bool

  /// What a broadcast begins with, where nobody says otherwise.
  public init(app: Bool = true, mic: Bool = false) {
    self.app = app
    self.mic = mic
  }

  /// The suite of settings that a broadcast has.
  public static let suiteName = "framebus.broadcast"

  /// As it stands in the suite.
  public init(in suite: SharedDefaults) {
    app = suite.isOn(.appAudio)
    mic = suite.isOn(.micAudio)
  }

  /// Has it heeded by all at once.
  public func set(in suite: SharedDefaults) throws(DefaultsError) {
    try Self.set(app: app, mic: mic, in: suite)
  }

  /// As ``set(in:)``, but what is nil stays as it is: who switches one kind of sound does not undo
  /// what somebody else does to the other at the same moment.
  public static func set(
    app: Bool?, mic: Bool?, in suite: SharedDefaults
  ) throws(DefaultsError) {
    try suite.update { draft in
      if let app { draft[FrameFormat.Kind.appAudio.switchKey] = .bool(app) }
      if let mic { draft[FrameFormat.Kind.micAudio.switchKey] = .bool(mic) }
    }
  }
}

/// One side of a group's switch, as whoever captures that sound heeds it.
public final class SwitchedSound: Sendable {
  private let kind: FrameFormat.Kind
  private let suite: SharedDefaults
  private let changed: EventCounter
  private let observation: DefaultsObservation

  /// - Parameter kind: `micAudio` for the microphone; anything else is the sound of applications.
  /// - Throws: where the settings cannot be read: a microphone that may be switched off stays so.
  public init(_ kind: FrameFormat.Kind, in group: AppGroup) throws(DefaultsError) {
    self.kind = kind
    let changed: EventCounter
    do throws(SystemError) { changed = try EventCounter() } catch { throw .system(error) }
    self.changed = changed
    suite = try SharedDefaults(suiteName: SoundSwitch.suiteName, in: group)
    try suite.refresh()
    observation = try suite.observe(kind.switchKey) { _ in changed.raise() }
  }

  /// Costs no call of the kernel while no setting changes.
  public var isOn: Bool { suite.isOn(kind) }

  /// Blocks the thread until it is on.
  /// - Returns: false if `stop` was raised, or the deadline passed, before that.
  package func waitUntilOn(stop: StopSignal, until deadline: Deadline) -> Bool {
    while true {
      changed.lower()
      if isOn { return true }
      if stop.isRaised || deadline.isPast { return false }
      // Without memory for a wait, there is nothing to do but to look again.
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
