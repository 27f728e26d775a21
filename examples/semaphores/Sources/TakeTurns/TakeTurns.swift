import AppGroup
import Foundation
import GroupSemaphores

/// Works in turns with every other process that runs this program. Kill one while it works: the
/// others continue.
@main struct TakeTurns {
  static func main() async {
    do { try await takeTurns() } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      exit(1)
    }
  }

  static func takeTurns() async throws {
    let turn = try openOrCreate(SemaphoreName("turn"), in: AppGroup.open(.local))
    for round in 1...10 {
      guard try turn.wait(until: .after(.seconds(60))) == .taken else { break }
      print("round \(round): my turn")
      try await Task.sleep(for: .seconds(1))
      try turn.post()
    }
  }

  /// The first process creates the semaphore; the others open it.
  static func openOrCreate(
    _ name: SemaphoreName, in group: AppGroup
  ) throws -> GroupSemaphore {
    do {
      return try GroupSemaphore.create(name, in: group, initialValue: 1, recoverable: true)
    } catch SemaphoreFileError.exists {
      return try GroupSemaphore.open(name, in: group)
    }
  }
}
