import Broadcast
import Stage

/// The host seals a token and the extension opens it. No file, argument or variable contains it.
@main struct CredentialHandOver {
  static func main() async { await Stage.run(play) }

  static func play() throws {
    let stage = try Stage()
    let token = "token-\(UInt64.random(in: 0 ... .max))"
    try stage.signIn(token: token)
    let controller = try BroadcastController(in: stage.group)
    let session = try controller.start(stage.request).session
    let expected = "sending to nowhere with a token of \(token.utf8.count) bytes"
    try stage.wait(for: expected, from: .extension)
    let isOpened = try stage.log(of: .extension).contains(expected)
    print("the extension has opened the token: \(isOpened)")
    print("files that contain the token: \(stage.fileCount(containing: token))")
    try controller.finish()
    if let ending = try controller.waitForEnding(of: session) { print(ending) }
  }
}
