import Broadcast
import CredentialStore
import Foundation
import FrameBus

/// An upload extension of somebody else's: it counts what it would send.
final class Uploader: BroadcastSampleHandler {
  private var setup: SetupInfo?
  private var delay = 0.0
  private var frameCount = 0
  private var droppedCount: UInt64 = 0

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    setup = setupInfo
    delay = setupInfo.settings.double(forKey: "delayInSeconds")
    let address = setupInfo.settings.string(forKey: "whipURL") ?? "nowhere"
    let byteCount = try signIn(setupInfo)
    setupInfo.log.append(.notice, "sending to \(address) with a token of \(byteCount) bytes")
  }

  override func broadcastPaused(for reasons: [BroadcastPause]) {
    setup?.log.append(.notice, "paused: \(reasons)")
  }

  override func broadcastResumed() { setup?.log.append(.notice, "resumed") }

  override func processSampleBuffer(_ sample: borrowing SampleBuffer, type: SampleBufferType) {
    frameCount += 1
    droppedCount += sample.droppedBefore
    if delay > 0 { Thread.sleep(forTimeInterval: delay) }
  }

  override func broadcastFinished() {
    setup?.log.append(
      .notice,
      "sent \(frameCount > 0 ? "frames" : "nothing"), "
        + "\(droppedCount > 0 ? "dropped some" : "dropped none")")
  }

  /// The token never is a text: it is lent for as long as it is used.
  private func signIn(_ setup: SetupInfo) throws(BroadcastFailure) -> Int {
    do {
      let name = try CredentialName(service: "whip.example.com", account: "studio")
      guard let store = setup.credentials else { throw CredentialError.notFound(name) }
      return try store.get(name).withBytes { $0.byteCount }
    } catch {
      throw BroadcastFailure(
        domain: "WHIP", code: 401, reason: "Not Logged In", recovery: "Go to Application")
    }
  }
}

@main struct Program {
  static func main() { BroadcastExtension.run(Uploader()) }
}
