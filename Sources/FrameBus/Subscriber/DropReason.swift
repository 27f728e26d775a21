import CFrameLayout

/// Why a subscriber never received a frame.
public enum DropReason: Int, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Overwritten before it was received.
  case lapped
  /// Skipped by the policy, which asks for a newer frame or for a subset.
  case passedOver
  /// Not decodable: after a gap, or before the first key frame.
  case awaitingKeyFrame
  /// In a pool older than this subscriber.
  case unreachable
  /// Its checksum did not match.
  case corrupt
  /// Overwritten after lossless delivery had ended.
  case losslessEnded

  public var description: String {
    switch self {
    case .lapped: "lapped"
    case .passedOver: "passed over"
    case .awaitingKeyFrame: "awaiting a key frame"
    case .unreachable: "unreachable"
    case .corrupt: "corrupt"
    case .losslessEnded: "lossless ended"
    }
  }
}

/// Dropped frames by reason. Sums wrap, because a hostile publisher's numbers may overflow them.
struct DropCounts: Sendable {
  private var counts = InlineArray<6, UInt64>(repeating: 0)
  private(set) var total: UInt64 = 0

  subscript(reason: DropReason) -> UInt64 { counts[reason.rawValue] }

  mutating func add(_ count: UInt64, _ reason: DropReason) {
    counts[reason.rawValue] &+= count
    total &+= count
  }
}
