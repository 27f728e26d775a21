import AppGroup
import Foundation
import NotifyCenter

/// Posts ten ticks. The state of the name is the number of ticks that remain.
@main struct Tick {
  static func main() async {
    do { try await tick() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func tick() async throws {
    let center = try NotifyCenter(AppGroup.open(.local), role: .host)
    let tick = try NotificationName("org.example.tick")
    for left in (0..<10).reversed() {
      try await Task.sleep(for: .milliseconds(500))
      try center.setState(UInt64(left), of: tick)
      try center.post(tick)
    }
  }
}
