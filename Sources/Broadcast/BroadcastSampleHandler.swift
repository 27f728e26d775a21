import AppGroup
import CredentialStore
import Platform
import SharedDefaults
import SharedLog
import Synchronization

/// What takes the samples of a broadcast somewhere. Subclass it, override what you need, and give
/// an instance to ``BroadcastExtension/run(_:)``.
///
/// Calls come one after the other, on the thread that runs it: started first; then samples, pauses
/// and annotations; at last finished, unless the broadcast failed. No sample comes while it is
/// paused. What any call throws ends the broadcast, as ``finishBroadcast(withError:)`` does.
///
/// ```swift
/// final class Uploader: BroadcastSampleHandler {
///   override func processSampleBuffer(
///     _ sample: borrowing SampleBuffer, type: SampleBufferType
///   ) throws(BroadcastFailure) { … }
/// }
/// ```
open class BroadcastSampleHandler {
  /// By which the broadcast can be ended from any thread, such as one of the network's.
  public let exit: BroadcastExit

  public init() { exit = BroadcastExit() }

  /// The broadcast begins, or goes on after this extension died: ``SetupInfo/attempt`` tells.
  open func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {}

  /// No samples come until ``broadcastResumed()``.
  open func broadcastPaused(for reasons: [BroadcastPause]) throws(BroadcastFailure) {}

  open func broadcastResumed() throws(BroadcastFailure) {}

  /// Another application has come to the front.
  open func broadcastAnnotated(applicationInfo: ApplicationInfo) throws(BroadcastFailure) {}

  /// Takes one sample, which is lent for the length of the call.
  open func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {}

  /// The broadcast ends as it should. It is not called after a failure.
  open func broadcastFinished() {}

  /// Ends the broadcast. The host is told these very words; no other call comes after the present
  /// one.
  public final func finishBroadcast(withError error: BroadcastFailure) {
    exit.finishBroadcast(withError: error)
  }
}

/// A handler that has something to do also while no sample comes, such as to send the picture of a
/// still screen again.
package protocol IdleHandler: BroadcastSampleHandler {
  /// When it has; asked for after each sample.
  var worksAt: Deadline { get }

  /// Called then, among the other calls, unless the broadcast is paused. ``worksAt`` lies ahead
  /// when it returns.
  func workWhileIdle() throws(BroadcastFailure)
}

/// Ends a broadcast from any thread of its extension.
public final class BroadcastExit: Sendable {
  private struct State {
    var failure: BroadcastFailure?
    var wake: Wake?
  }
  private let state = Mutex(State())

  init() {}

  /// As ``BroadcastSampleHandler/finishBroadcast(withError:)``. The first error counts.
  public func finishBroadcast(withError error: BroadcastFailure) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
      state.wake?.raise()
    }
  }

  var failure: BroadcastFailure? { state.withLock { $0.failure } }

  func connect(_ wake: Wake) { state.withLock { $0.wake = wake } }
}

/// What an extension is given at the start.
public struct SetupInfo: Sendable {
  public let group: AppGroup
  public let session: SessionID
  public let extensionID: String
  /// 1 for the first start; more after the extension died and was started again.
  public let attempt: Int
  /// The kinds of samples that come, as the manifest asks for them.
  public let samples: [SampleBufferType]
  /// The settings that the group's host keeps.
  public let settings: SharedDefaults
  /// What the host handed over; nil if the manifest asks for no credentials.
  public let credentials: CredentialStore?
  /// The group's log, under the name of this session.
  public let log: SharedLog
}

/// The application in front, by the name that its windows or the host give it: to be shown, never
/// to decide by.
public struct ApplicationInfo: Hashable, Sendable {
  public let applicationID: String
}
