import AppGroup
import NotifyCenter

/// Tells of each tick that another process posts. Stop it with Ctrl-Z while `Tick` runs, and let it
/// go on: what came meanwhile is one delivery, and nothing is missing.
@main struct Watch {
  static func main() async throws {
    let center = try NotifyCenter(AppGroup.open(.local), role: .host)
    let ticks = try center.deliveries(of: NotificationName("org.example.tick"))
    print("watching; now run Tick")
    for await tick in ticks {
      let poster = tick.poster.map { "process \($0.pid)" } ?? "several posts"
      print("tick \(tick.generation): \(tick.coalesced) since the last, by \(poster)")
      if tick.state == 0 { break }
    }
    print("the last one")
  }
}
