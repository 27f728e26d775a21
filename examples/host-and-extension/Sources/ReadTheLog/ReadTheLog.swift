import Broadcast
import Stage

/// The host reads what the extension logged, after the extension has ended.
@main struct ReadTheLog {
  static func main() async { await Stage.run(play) }

  static func play() throws {
    let stage = try Stage()
    try stage.signIn(token: "a token")
    let controller = try BroadcastController(in: stage.group)
    let session = try controller.start(stage.request).session
    try stage.wait(for: "the first frame is sent", from: .extension)
    try controller.finish()
    _ = try controller.waitForEnding(of: session)
    for line in try stage.log(of: .extension) { print(line) }
  }
}
