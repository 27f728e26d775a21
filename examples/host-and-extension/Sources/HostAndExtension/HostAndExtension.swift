import Broadcast
import Stage

/// A host app: an address in the settings, a sign-in, a broadcast. Without the sign-in the
/// extension sends the user back here.
@main struct HostAndExtension {
  static func main() async throws {
    let stage = try Stage()
    try stage.settings.set("https://whip.example.com/live", forKey: "whipURL")
    let (controller, events) = try stage.controller()

    let first = try controller.start(stage.request).session
    if case .failed(let failure)? = try controller.waitForEnding(of: first) {
      print("failed: \(failure.domain) \(failure.code), \(failure.reason): \(failure.recovery)")
    }
    try stage.signIn(token: "a token")
    let second = try controller.start(stage.request).session
    for await event in events where event == .live { break }
    print("live")
    try stage.wait(for: "the first frame is sent", from: .extension)
    try controller.finish()
    if let ending = try controller.waitForEnding(of: second) { print(ending) }
  }
}
