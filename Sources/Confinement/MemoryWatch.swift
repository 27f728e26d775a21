import Platform
import Synchronization

/// How much of its budget a process has taken.
package enum MemoryLevel: Int, Comparable, Sendable {
  case enough
  /// More than nine tenths: time to drop what can be dropped.
  case low
  case exceeded

  package init(usedBytes: UInt64, budgetBytes: UInt64) {
    self =
      usedBytes > budgetBytes
      ? .exceeded : usedBytes > budgetBytes / 10 * 9 ? .low : .enough
  }

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Looks at the memory that a process has of its own, and its children with it where they are in a
/// control group, ten times a second and whenever it is asked; and tells of each change of its
/// level. Frames, which roles share, do not count (RssAnon).
package final class MemoryWatch: Sendable {
  package let budgetBytes: UInt64
  private let processID: Int32?
  private let group: String?
  private let onChange: @Sendable (MemoryLevel) -> Void
  private let state: Mutex<State>

  private struct State {
    var level = MemoryLevel.enough
    var peak = MemoryLevel.enough
    var lookedAtNs: UInt64 = 0
  }

  /// Asking again so soon is answered by what was seen before.
  private static let freshNs: UInt64 = 5_000_000

  /// The environment variables in which framebus-confine tells a process its own budget, in bytes,
  /// and the directory of its control group, if it has one.
  package static let variable = "FRAMEBUS_MEMORY_BYTES"
  static let groupVariable = "FRAMEBUS_MEMORY_GROUP"

  /// - Parameters:
  ///   - processID: nil for this process.
  ///   - group: the directory of the control group that it is in; nil for none.
  package init(
    budgetBytes: UInt64, of processID: Int32? = nil, in group: String? = nil,
    onChange: @escaping @Sendable (MemoryLevel) -> Void
  ) {
    self.budgetBytes = budgetBytes
    self.processID = processID
    self.group = group
    self.onChange = onChange
    state = Mutex(State())
    keepLooking()
  }

  /// As it is now.
  package var level: MemoryLevel {
    look()
    return state.withLock { $0.level }
  }

  package var isExceeded: Bool { state.withLock { $0.peak == .exceeded } }

  private func keepLooking() {
    look()
    _ = try? EventLoop.shared().schedule(at: .after(.milliseconds(100))) { [weak self] in
      self?.keepLooking()
    }
  }

  private func look() {
    let nowNs = monotonicNowNs()
    // Another thread may have looked later than this one asked for the time.
    if nowNs < state.withLock({ $0.lookedAtNs }) + Self.freshNs { return }
    guard let used = usedBytes else { return }
    let now = MemoryLevel(usedBytes: used, budgetBytes: budgetBytes)
    let isChange = state.withLock { state in
      let isChange = state.level != now
      state = State(level: now, peak: max(now, state.peak), lookedAtNs: nowNs)
      return isChange
    }
    if isChange { onChange(now) }
  }

  private var usedBytes: UInt64? {
    group.flatMap(MemoryGroup.ownBytes) ?? privateMemoryBytes(of: processID)
  }
}
