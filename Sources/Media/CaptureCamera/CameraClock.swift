/// Judges the times and numbers that a driver gives its pictures.
///
/// A pure calculation over what the caller passes in; it never reads a clock.
struct CameraClock {
  /// A picture that is older than this has another clock's time.
  static let maximumAgeNs: UInt64 = 10_000_000_000
  /// A longer gap is a new count.
  static let maximumGap: UInt32 = 10_000

  private var lastSequence: UInt32?
  private var lastPTSNs = Int64.min

  init() {}

  /// For a camera that was started again: it counts anew, but time goes on.
  init(after former: CameraClock) { lastPTSNs = former.lastPTSNs }

  /// Notes a picture's number.
  /// - Returns: how many pictures before it are missing.
  mutating func missingCount(before sequence: UInt32) -> UInt64 {
    defer { lastSequence = sequence }
    guard let lastSequence else { return 0 }
    let gap = sequence &- lastSequence
    return (1...Self.maximumGap).contains(gap) ? UInt64(gap - 1) : 0
  }

  /// When a picture was taken: what the driver says if that can be, else now. Later than the one
  /// before it.
  mutating func times(
    of time: CameraTime, nowNs: UInt64
  ) -> (ptsNs: Int64, capturedAtNs: UInt64) {
    let claimedNs = UInt64(clamping: time.timestampNs)
    let isPlausible =
      time.isMonotonic && claimedNs <= nowNs && nowNs - claimedNs <= Self.maximumAgeNs
    let capturedAtNs = isPlausible && claimedNs > 0 ? claimedNs : nowNs
    let ptsNs = max(Int64(clamping: capturedAtNs), lastPTSNs == .min ? .min : lastPTSNs + 1)
    lastPTSNs = ptsNs
    return (ptsNs, capturedAtNs)
  }
}

/// What a driver says of the time of a picture.
struct CameraTime {
  let timestampNs: Int64
  /// Whether it is of `CLOCK_MONOTONIC`.
  let isMonotonic: Bool
}
