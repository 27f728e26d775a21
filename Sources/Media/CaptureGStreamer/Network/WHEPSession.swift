#if Media
  import Platform
  import Synchronization
  import WHIP

  /// A session at a WHEP endpoint, for one run of a pipeline: what fails there ends the run.
  final class WHEPSession: Sendable {
    private let receiver: WHEPReceiver
    private let connection: WHEPConnection
    private let ending: Ending

    /// What the connection's thread leaves for the run's.
    private final class Ending: Sendable {
      let reason = Mutex<String?>(nil)
    }

    /// - Parameters:
    ///   - pipeline: begins with a webrtcbin called `source`, and does not play yet.
    ///   - hide: called with secrets that the endpoint names, before GStreamer may log them.
    ///   - noticed: called with what does not end the session. Both on the connection's thread.
    init(
      _ pipeline: CapturePipeline, at address: WebAddress, _ secret: NetworkSecret?,
      certificates: String?, hasSound: Bool, hide: @escaping @Sendable (String) -> Void,
      noticed: @escaping @Sendable (String) -> Void
    ) throws(PipelineError) {
      let ending = Ending()
      self.ending = ending
      receiver = try WHEPReceiver(pipeline, hasSound: hasSound, certificates: certificates)
      do {
        let endpoint = try WHIPEndpoint(
          address.text, bearer: secret?.bearer, staysAtOrigin: true)
        connection = try WHEPConnection(
          receiver, to: endpoint, client: CurlClient(certificates: certificates)
        ) { event in
          switch event {
          case .ended(let error):
            ending.reason.withLock { $0 = error.forViewers }
            pipeline.fail()
          case .recommended(let servers):
            for server in servers where !server.password.isEmpty { hide(server.password) }
          case .notUsed(let error): noticed("\(error)")
          case .notRemoved(let error): noticed("the session is not removed: \(error.forViewers)")
          default: break
          }
        }
      } catch let error as SystemError {
        throw .system(error)
      } catch let error as WHIPError {
        throw .unsupportedFormat(error.forViewers)
      } catch {
        throw .unsupportedFormat("\(error)")
      }
    }

    /// Why the session has ended, in words for the user; nil while it lasts.
    var failure: String? {
      ending.reason.withLock { $0 }?.replacing("--credential SERVICE/ACCOUNT", with: "--secret")
        .replacing("--credential", with: "--secret")
        .replacing(", or name a relay with --turn", with: "")
        .replacing(" (--turn-credential)", with: "")
    }

    /// Removes the session at the endpoint. Blocks for a few seconds at most.
    func end() { connection.end() }
  }
#endif
