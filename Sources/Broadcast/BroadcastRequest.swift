import AppGroup
import CredentialStore
import FrameBus
import Sound

/// What a host asks for when it starts a broadcast.
public struct BroadcastRequest: Sendable {
  public var extensionID: String
  /// What to capture, as `framebus capture` takes it, such as `screen` or `test:bars`: at most
  /// ``maximumSourceBytes``.
  public var source: String
  /// Further options of `framebus capture`, such as `--fps=60`.
  public var captureOptions: [String] = []
  /// Where sound comes from, for an extension that wants it: what `framebus capture` takes. A kind
  /// that is not named is captured by somebody else, or not at all.
  public var soundSources: [SampleBufferType: String] = [
    .audioApp: "pulse:monitor", .audioMic: "pulse:mic",
  ]
  /// Which sound is heard at first; ``BroadcastController/sound`` changes it at any time.
  public var sound = SoundSwitch()
  /// Where samples of each kind come from, if not from ``SampleBufferType/usualStream``.
  public var streams: [SampleBufferType: StreamName] = [:]
  /// Whether capture and extension are killed when the host's process ends, as in a demo. Otherwise
  /// they go on, for the next host to take over.
  package var rolesEndWithHost = false
  /// What the user agreed to; written into the log once a session, before the first frame.
  public var consent = "The screen is shown to others while this broadcast lasts."
  public var restarts = RestartPolicy()
  /// Whether capture and extension can do no more than their roles need, as far as this machine
  /// can keep them from it; ``BroadcastStatus/confinement`` and the log say how far.
  public var isConfined = true
  /// The store that the host has opened, by a passphrase for one; nil: it is opened at each start
  /// of an extension that asks for credentials, and has to open without being asked for anything.
  public var credentials: CredentialStore?
  /// How long the extension may take to finish when it is asked to.
  public var finishWithin = usualTimeToFinish

  static let usualTimeToFinish = Duration.seconds(10)

  /// The longest source, in bytes of UTF-8.
  public static let maximumSourceBytes = BroadcastRecord.maximumTextBytes

  public init(extensionID: String, source: String) {
    self.extensionID = extensionID
    self.source = source
  }
}

/// When a role that died is started again.
public struct RestartPolicy: Hashable, Sendable {
  /// How often in a row; the next death ends the broadcast.
  public var maximumInARow = 5
  /// How long to wait before the first; each further one waits twice as long.
  public var firstDelay: Duration = .milliseconds(200)
  public var longestDelay: Duration = .seconds(10)
  /// A process that lived so long has done well: counting begins anew.
  public var forgivenAfter: Duration = .seconds(5)

  public init() {}

  init(maximumInARow: Int, firstDelay: Duration, longestDelay: Duration) {
    self.maximumInARow = maximumInARow
    self.firstDelay = firstDelay
    self.longestDelay = longestDelay
  }

  /// A role that died stays dead.
  public static var never: RestartPolicy {
    var policy = RestartPolicy()
    policy.maximumInARow = 0
    return policy
  }

  /// How long to wait after so many deaths in a row; nil for no restart.
  func delay(afterDeaths count: Int) -> Duration? {
    guard count <= maximumInARow else { return nil }
    var delay = firstDelay
    for _ in 1..<max(1, count) where delay < longestDelay { delay *= 2 }
    return min(delay, longestDelay)
  }
}

/// What happens to a broadcast, as its host is told.
public enum BroadcastEvent: Hashable, Sendable {
  /// A session began; or this host took over one that was under way.
  case started(SessionID, isAdopted: Bool)
  /// The extension takes samples.
  case live
  case paused([BroadcastPause])
  case resumed
  /// A role's process ended, and is started again after a while; nil: it is not.
  case roleLost(Role, why: String, restartsIn: Duration?)
  /// The program that was started as a role has not taken it yet, though it had the time.
  case roleSilent(Role, program: String)
  /// A role's process was started again.
  case roleRestarted(Role)
  case finished(BroadcastEnding)
}
