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

    /// - Parameter pipeline: begins with a webrtcbin called `source`, and does not play yet.
    init(
      _ pipeline: CapturePipeline, at address: WebAddress, _ secret: NetworkSecret?,
      certificates: String?, hasSound: Bool
    ) throws(PipelineError) {
      let ending = Ending()
      self.ending = ending
      receiver = try WHEPReceiver(pipeline, hasSound: hasSound)
      do {
        let endpoint = try WHIPEndpoint(
          address.text, bearer: secret?.bearer, staysAtOrigin: true)
        connection = try WHEPConnection(
          receiver, to: endpoint, client: CurlClient(certificates: certificates)
        ) { error in
          ending.reason.withLock { $0 = error.forViewers }
          pipeline.fail()
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
    }

    /// Removes the session at the endpoint. Blocks for a few seconds at most.
    func end() { connection.end() }
  }
#endif
