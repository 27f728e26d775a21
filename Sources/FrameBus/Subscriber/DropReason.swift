import CFrameLayout

/// Why a subscriber never received a frame.
public enum DropReason: Int, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Overwritten before it was received.
  case lapped
  /// Left out on purpose: the policy wanted a newer one, or only some.
  case passedOver
  /// Not decodable after a gap, or before the key frame to begin with.
  case awaitingKeyFrame
  /// In memory from before this subscriber came.
  case unreachable
  /// Its checksum was wrong.
  case corrupt
  /// Lost after lossless delivery had ended.
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

/// Frames that were dropped, by reason. Sums wrap, where a hostile publisher's numbers are too
/// large to add up.
struct DropCounts: Sendable {
  private var counts = InlineArray<6, UInt64>(repeating: 0)
  private(set) var total: UInt64 = 0

  subscript(reason: DropReason) -> UInt64 { counts[reason.rawValue] }

  mutating func add(_ count: UInt64, _ reason: DropReason) {
    counts[reason.rawValue] &+= count
    total &+= count
  }
}
