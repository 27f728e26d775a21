import Broadcast
import CredentialStore
import Foundation
import FrameBus

/// An upload extension that counts the frames that it would send.
final class Uploader: BroadcastSampleHandler {
  private var setup: SetupInfo?
  private var receiver = Receiver(delayInSeconds: 0)
  private var frameCount = 0
  private var droppedCount: UInt64 = 0

  override func broadcastStarted(setupInfo: SetupInfo) throws(BroadcastFailure) {
    setup = setupInfo
    receiver = Receiver(delayInSeconds: setupInfo.settings.double(forKey: "delayInSeconds"))
    let address = setupInfo.settings.string(forKey: "whipURL") ?? "nowhere"
    let byteCount = try signIn(setupInfo)
    setupInfo.log.append(.notice, "sending to \(address) with a token of \(byteCount) bytes")
  }

  override func broadcastPaused(for reasons: [BroadcastPause]) {
    setup?.log.append(.notice, "paused: \(reasons)")
  }

  override func broadcastResumed() { setup?.log.append(.notice, "resumed") }

  override func processSampleBuffer(_ sample: borrowing SampleBuffer, type: SampleBufferType) {
    receiver.send()
    frameCount += 1
    if frameCount == 1 { setup?.log.append(.notice, "the first frame is sent") }
    if droppedCount == 0, sample.droppedBefore > 0 {
      setup?.log.append(.notice, "too slow for all frames")
    }
    droppedCount += sample.droppedBefore
  }

  override func broadcastFinished() {
    setup?.log.append(
      .notice,
      "sent \(frameCount > 0 ? "frames" : "nothing"), "
        + "\(droppedCount > 0 ? "dropped some" : "dropped none")")
  }

  /// Reads the token in place, without copying it into a string.
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

/// Simulates a network peer that needs some time for each frame before it is ready for another.
private struct Receiver {
  let delayInSeconds: Double
  private let answer = DispatchSemaphore(value: 0)

  init(delayInSeconds: Double) { self.delayInSeconds = delayInSeconds }

  func send() {
    if delayInSeconds == 0 { return }
    let answer = answer
    DispatchQueue.global().asyncAfter(deadline: .now() + delayInSeconds) { answer.signal() }
    answer.wait()
  }
}

@main struct Program {
  static func main() { BroadcastExtension.run(Uploader()) }
}
