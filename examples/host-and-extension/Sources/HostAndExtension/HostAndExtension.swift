import Broadcast
import Stage

/// A host application: an address in the settings, a sign-in, a broadcast. Without the sign-in the
/// extension refers the user to the host.
@main struct HostAndExtension {
  static func main() async { await Stage.run(play) }

  static func play() async throws {
    let stage = try Stage()
    try stage.settings.set("https://whip.example.com/live", forKey: "whipURL")
    let (controller, received) = try stage.controller()
    var events = received.makeAsyncIterator()

    let first = try controller.start(stage.request).session
    if case .failed(let failure)? = try controller.waitForEnding(of: first) {
      print("failed: \(failure.domain) \(failure.code), \(failure.reason): \(failure.recovery)")
    }
    try await events.wait { if case .finished = $0 { true } else { false } }
    try stage.signIn(token: "a token")
    let second = try controller.start(stage.request).session
    try await events.wait { $0 == .live }
    print("live")
    try stage.wait(for: "the first frame is sent", from: .extension)
    try controller.finish()
    if let ending = try controller.waitForEnding(of: second) { print(ending) }
  }
}
