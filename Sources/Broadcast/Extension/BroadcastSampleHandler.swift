import AppGroup
import CredentialStore
import FrameBus
import Platform
import SharedDefaults
import SharedLog
import Synchronization

/// Receives the samples of a broadcast. Subclass it, override the methods you need, and pass an
/// instance to ``BroadcastExtension/run(_:)``.
///
/// The methods are called one at a time, on the thread that called `run`: first
/// `broadcastStarted`; then samples, pauses and annotations; last `broadcastFinished`, unless the
/// broadcast failed. No sample arrives while it is paused. An error thrown by any method ends the
/// broadcast, as ``finishBroadcast(withError:)`` does.
///
/// ```swift
/// final class Uploader: BroadcastSampleHandler {
///   override func processSampleBuffer(
///     _ sample: borrowing SampleBuffer, type: SampleBufferType
///   ) throws(BroadcastFailure) { … }
/// }
/// ```
open class BroadcastSampleHandler {
  /// Ends the broadcast from any thread, such as a network thread.
  public let exit: BroadcastExit
  /// Reports from any thread whether the destination accepts samples.
  public let connection: BroadcastConnection

  /// A handler, which ``BroadcastExtension/run(_:)`` runs.
  public init() {
    exit = BroadcastExit()
    connection = BroadcastConnection()
  }

  /// The broadcast starts, or continues after this extension died; see ``SetupInfo/attempt``.
  open func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {}

  /// No samples arrive until ``broadcastResumed()``. Called again if the reasons change meanwhile.
  open func broadcastPaused(for reasons: [BroadcastPause]) throws(BroadcastFailure) {}

  /// Samples arrive again.
  open func broadcastResumed() throws(BroadcastFailure) {}

  /// Another application came to the front.
  open func broadcastAnnotated(applicationInfo: ApplicationInfo) throws(BroadcastFailure) {}

  /// Processes one sample, which is valid only during the call.
  open func processSampleBuffer(
    _ sample: borrowing SampleBuffer, type: SampleBufferType
  ) throws(BroadcastFailure) {}

  /// The broadcast ends without a failure. Not called after a failure.
  open func broadcastFinished() {}

  /// Ends the broadcast with an error, which the host receives unchanged. No other method is called
  /// after the current one returns.
  public final func finishBroadcast(withError error: BroadcastFailure) {
    exit.finishBroadcast(withError: error)
  }
}

/// A handler with work to do while no sample arrives, such as resending the picture of a still
/// screen.
package protocol IdleHandler: BroadcastSampleHandler {
  /// When the work is due. Read after each sample.
  var worksAt: Deadline { get }

  /// Does the work. Called at ``worksAt``, in sequence with the other methods, unless the broadcast
  /// is paused. It must move ``worksAt`` into the future.
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

  /// Does the same as ``BroadcastSampleHandler/finishBroadcast(withError:)``. The first error wins.
  public func finishBroadcast(withError error: BroadcastFailure) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
      state.wake?.raise()
    }
  }

  var failure: BroadcastFailure? { state.withLock { $0.failure } }

  func connect(_ wake: Wake) { state.withLock { $0.wake = wake } }
}

/// What an extension receives at its start.
public struct SetupInfo: Sendable {
  /// The group of the broadcast.
  public let group: AppGroup
  /// The broadcast.
  public let session: SessionID
  /// The ID under which the extension is registered.
  public let extensionID: String
  /// 1 for the first start, and more each time the extension died and was restarted.
  public internal(set) var attempt: Int
  /// The kinds of samples that the manifest requests.
  public let samples: [SampleBufferType]
  /// The group's settings, which its host maintains.
  public let settings: SharedDefaults
  /// The credentials that the host handed over; nil if it handed over nothing.
  public let credentials: CredentialStore?
  /// The group's log, filed under this session.
  public let log: SharedLog
  let passed: SessionSetup
  /// The stream of the leading samples: pictures, if the extension receives any.
  package let leadingStream: StreamName?

  /// The title that the host gave the broadcast: ``BroadcastRequest/title``.
  public var title: String? { passed.title }
  /// The values that the host passes on: ``BroadcastRequest/setupInfo``. The same at each attempt.
  public var values: [String: DefaultsValue] { passed.values }

  /// Opens a credential that the host handed over under this name:
  /// `BroadcastRequest.setupSecrets`.
  /// - Throws: `CredentialError.invalid` if it handed over none.
  public func secret(_ key: String) throws(CredentialError) -> SecretBytes {
    guard let name = passed.secrets[key], let credentials else {
      throw .invalid(
        "the host passed no credential on as “\(key)”; start the broadcast with"
          + " --setup-secret \(key)=SERVICE/ACCOUNT")
    }
    return try credentials.get(name)
  }

  /// The service of the credential that carries ``values``, in ``credentials``.
  package static let carrierService = SessionSetup.service
}

/// The front application, named by its windows or by the host. Display the name, but base no
/// decision on it.
public struct ApplicationInfo: Hashable, Sendable {
  /// The name of the application.
  public let applicationID: String
}
