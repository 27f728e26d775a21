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

/// Looks at the memory that a process has of its own (RssAnon: frames it shares do not count) ten
/// times a second, and tells of each change of its level.
package final class MemoryWatch: Sendable {
  package let budgetBytes: UInt64
  private let processID: Int32?
  private let onChange: @Sendable (MemoryLevel) -> Void
  private let state = Mutex((level: MemoryLevel.enough, peak: MemoryLevel.enough))

  /// The environment variable in which framebus-confine tells a process its own budget, in bytes.
  package static let variable = "FRAMEBUS_MEMORY_BYTES"

  /// - Parameter processID: nil for this process.
  package init(
    budgetBytes: UInt64, of processID: Int32? = nil,
    onChange: @escaping @Sendable (MemoryLevel) -> Void
  ) {
    self.budgetBytes = budgetBytes
    self.processID = processID
    self.onChange = onChange
    look()
  }

  package var level: MemoryLevel { state.withLock { $0.level } }
  package var isExceeded: Bool { state.withLock { $0.peak == .exceeded } }

  private func look() {
    guard let used = privateMemoryBytes(of: processID) else { return }
    let now = MemoryLevel(usedBytes: used, budgetBytes: budgetBytes)
    let isChange = state.withLock { state in
      defer { state = (now, max(now, state.peak)) }
      return state.level != now
    }
    if isChange { onChange(now) }
    _ = try? EventLoop.shared().schedule(at: .after(.milliseconds(100))) { [weak self] in
      self?.look()
    }
  }
}
