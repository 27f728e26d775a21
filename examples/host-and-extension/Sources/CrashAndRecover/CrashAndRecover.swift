import AppGroup
import Broadcast
import Foundation
import Stage

/// The capture is killed, then the extension: the broadcast goes on.
@main struct CrashAndRecover {
  static func main() throws {
    let stage = try Stage()
    try stage.signIn(token: "a token")
    let controller = try BroadcastController(in: stage.group) { event in
      if case .roleLost(let role, _, _) = event { print("the \(role) has died") }
      if case .roleRestarted(let role) = event { print("the \(role) was started again") }
    }
    let session = try controller.start(stage.request).session
    for role in [Role.capture, .extension] {
      try stage.wait {
        let status = try controller.status
        return status.phase == .live && status.pids.count == 3
      }
      let before = try controller.status.pids[role]
      if let before { kill(before, SIGKILL) }
      try stage.wait {
        let status = try controller.status
        return status.phase == .live && status.pids.count == 3 && status.pids[role] != before
      }
    }
    try controller.finish()
    if let ending = try controller.waitForEnding(of: session) { print(ending) }
  }
}
