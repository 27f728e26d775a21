import FrameBus
import Platform
import Synchronization
import TestSupport
import Testing

/// Looks at the frames of a stream on a thread of its own, for colours that none may have.
final class FrameWatch: Sendable {
  private struct State {
    var newest: TakenFrame?
    var strangers: [UInt32] = []
    var count = 0
    var isEnding = false
    var hasEnded = false
  }
  private let state = Mutex(State())

  init(_ world: ScreenWorld, for colors: Set<UInt32>) throws {
    let (stream, group) = (world.stream, world.group)
    try startThread(named: "watch") { [self] in
      defer { state.withLock { $0.hasEnded = true } }
      guard
        var subscriber = try? Subscriber(
          stream, in: group, waitingForPublisherUntil: .after(.seconds(30)))
      else { return }
      while !state.withLock({ $0.isEnding }) {
        guard let frame = try? subscriber.take(within: .milliseconds(100)) else { continue }
        let stranger = frame.strange(to: colors)
        state.withLock {
          $0.newest = frame
          $0.count += 1
          if let stranger { $0.strangers.append(stranger) }
        }
      }
    }
  }

  /// Waits until the newest frame is as it should be.
  func wait(where isWanted: @escaping @Sendable (TakenFrame) -> Bool) throws {
    try waitUntil("such a frame comes") { state.withLock { $0.newest.map(isWanted) ?? false } }
  }

  /// Expects that no frame had another colour.
  func end() throws {
    state.withLock { $0.isEnding = true }
    try waitUntil("the watch has ended") { state.withLock { $0.hasEnded } }
    let (count, strangers) = state.withLock { ($0.count, $0.strangers) }
    #expect(count > 0)
    #expect(strangers.isEmpty, "\(strangers.count) of \(count) frames")
  }
}
