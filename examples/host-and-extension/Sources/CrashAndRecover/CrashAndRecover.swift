import AppGroup
import Broadcast
import Foundation
import Stage

/// The capture is killed, then the extension: the broadcast goes on.
@main struct CrashAndRecover {
  static func main() async { await Stage.run(play) }

  static func play() async throws {
    let stage = try Stage()
    try stage.signIn(token: "a token")
    let (controller, told) = try stage.controller()
    var events = told.makeAsyncIterator()
    let session = try controller.start(stage.request).session
    try await events.wait { $0 == .live }
    for role in [Role.capture, .extension] {
      if let pid = try controller.status.pids[role] { kill(pid, SIGKILL) }
      try await events.wait { event in
        if case .roleLost(let role, _, _) = event { print("the \(role) has died") }
        return event == .roleRestarted(role)
      }
      print("the \(role) was started again")
    }
    try controller.finish()
    if let ending = try controller.waitForEnding(of: session) { print(ending) }
  }
}
