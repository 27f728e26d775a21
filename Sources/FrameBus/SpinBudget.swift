/// How long a waiter spins before it sleeps.
///
/// Spinning pays only when the next frame comes sooner than a sleeping core wakes (20…60 µs). The
/// budget grows while spinning succeeds and shrinks while it fails, so that a 60 fps stream costs
/// next to none and a fast one no wake-ups.
struct SpinBudget {
  private static let least = 16
  private static let most = 4096
  private(set) var turns = least

  mutating func succeeded() { turns = min(turns * 2, Self.most) }
  mutating func failed() { turns = max(turns / 2, Self.least) }
}
