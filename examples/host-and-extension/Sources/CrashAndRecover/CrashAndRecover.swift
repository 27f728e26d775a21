import AppGroup
import Broadcast
import Foundation
import Stage

/// Kills the capture, then the extension; the broadcast continues.
@main struct CrashAndRecover {
  static func main() async { await Stage.run(play) }

  static func play() async throws {
    let stage = try Stage()
    try stage.signIn(token: "a token")
    let (controller, received) = try stage.controller()
    var events = received.makeAsyncIterator()
    let session = try controller.start(stage.request).session
    try await events.wait { $0 == .live }
    for role in [Role.capture, .extension] {
      if let pid = try controller.status.pids[role] { kill(pid, SIGKILL) }
      try await events.wait { event in
        if case .roleLost(let role, _, _) = event { print("the \(role) has died") }
        return event == .roleRestarted(role)
      }
      print("the \(role) was restarted")
    }
    try controller.finish()
    if let ending = try controller.waitForEnding(of: session) { print(ending) }
  }
}
