import AppGroup
import Foundation
import NotifyCenter

/// Prints each tick that another process posts. Stop it with Ctrl-Z while `Tick` runs, and continue
/// it: the ticks that it missed are one delivery, and none is lost.
@main struct Watch {
  static func main() async {
    do { try await watch() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func watch() async throws {
    let center = try NotifyCenter(AppGroup.open(.local), role: .host)
    let ticks = try center.deliveries(of: NotificationName("org.example.tick"))
    print("watching; now run Tick")
    for await tick in ticks {
      let poster = tick.poster.map { "process \($0.pid)" } ?? "several posts"
      print("tick \(tick.generation): \(tick.coalesced) since the last, by \(poster)")
      if tick.state == 0 { break }
    }
    print("last tick")
  }
}
