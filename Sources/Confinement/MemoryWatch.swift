import Platform
import Synchronization

/// How much of its memory budget a process uses.
package enum MemoryLevel: Int, Comparable, Sendable {
  case enough
  /// More than nine tenths: drop frames.
  case low
  case exceeded

  package init(usedBytes: UInt64, budgetBytes: UInt64) {
    self =
      usedBytes > budgetBytes
      ? .exceeded : usedBytes > budgetBytes / 10 * 9 ? .low : .enough
  }

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Polls the memory of a process, and that of its children if they are in a control group, ten
/// times a second and on each read of ``level``; reports each change of the level. Frames, which
/// roles share, do not count (RssAnon).
package final class MemoryWatch: Sendable {
  package let budgetBytes: UInt64
  private let processID: Int32?
  private let group: String?
  private let onChange: @Sendable (MemoryLevel) -> Void
  private let state: Mutex<State>

  private struct State {
    var level = MemoryLevel.enough
    var peak = MemoryLevel.enough
    var polledAtNs: UInt64 = 0
  }

  /// Reads within this time return the previous result.
  private static let freshNs: UInt64 = 5_000_000

  /// Environment variables that framebus-confine sets: the process's budget in bytes, and the
  /// directory of its control group, if it has one.
  package static let variable = "FRAMEBUS_MEMORY_BYTES"
  static let groupVariable = "FRAMEBUS_MEMORY_GROUP"

  /// - Parameters:
  ///   - processID: nil for this process.
  ///   - group: the directory of its control group; nil if it has none.
  package init(
    budgetBytes: UInt64, of processID: Int32? = nil, in group: String? = nil,
    onChange: @escaping @Sendable (MemoryLevel) -> Void
  ) {
    self.budgetBytes = budgetBytes
    self.processID = processID
    self.group = group
    self.onChange = onChange
    state = Mutex(State())
    pollRepeatedly()
  }

  /// The current level.
  package var level: MemoryLevel {
    poll()
    return state.withLock { $0.level }
  }

  package var isExceeded: Bool { state.withLock { $0.peak == .exceeded } }

  private func pollRepeatedly() {
    poll()
    _ = try? EventLoop.shared().schedule(at: .after(.milliseconds(100))) { [weak self] in
      self?.pollRepeatedly()
    }
  }

  private func poll() {
    let nowNs = monotonicNowNs()
    // Another thread may have polled after this one read the clock.
    if nowNs < state.withLock({ $0.polledAtNs }) + Self.freshNs { return }
    guard let used = usedBytes else { return }
    let now = MemoryLevel(usedBytes: used, budgetBytes: budgetBytes)
    let isChange = state.withLock { state in
      let isChange = state.level != now
      state = State(level: now, peak: max(now, state.peak), polledAtNs: nowNs)
      return isChange
    }
    if isChange { onChange(now) }
  }

  private var usedBytes: UInt64? {
    group.flatMap(MemoryGroup.ownBytes) ?? privateMemoryBytes(of: processID)
  }
}
