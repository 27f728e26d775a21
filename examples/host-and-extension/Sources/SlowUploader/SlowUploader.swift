import Broadcast
import Stage

/// An extension that needs a fifth of a second per frame receives five per second, each the newest.
/// It delays no other process, and no frames queue up in memory.
@main struct SlowUploader {
  static func main() async { await Stage.run(play) }

  static func play() throws {
    let stage = try Stage()
    try stage.signIn(token: "a token")
    try stage.settings.set(0.2, forKey: "delayInSeconds")
    let controller = try BroadcastController(in: stage.group)
    let session = try controller.start(stage.request).session
    try stage.wait(for: "too slow for all frames", from: .extension)
    try controller.finish()
    if let ending = try controller.waitForEnding(of: session) { print(ending) }
    if let last = try stage.log(of: .extension).first(where: { $0.hasPrefix("sent") }) {
      print(last)
    }
  }
}
