import CFrameLayout

/// How a publisher lays out its stream. The defaults suit large live pictures.
public struct PublisherOptions: Sendable {
  /// What the pictures show. A stream of a screen or window counts for ``ScreenCapturedState``.
  public var content = StreamContent.other
  /// Number of newest frames that subscribers can receive, 2…1024. Each takes a slot.
  public var ringDepth = 2
  /// Bytes of a slot; nil for the first format's size. Slots sized for the largest later picture
  /// avoid a new pool.
  public var slotBytes: Int?
  /// Maximum number of loans at once, 1…64.
  public var maxLoans = 1
  /// Frames that all subscribers together may hold, at least 64, as far as `poolBytes` goes.
  public var holdQuota = 128
  /// Bytes of a pool, which a subscriber can make take real memory by reading all of it. Where
  /// slots are so large that the `holdQuota` does not fit, fewer frames can be held, and there may
  /// be no more subscribers than that; 8 at least, whatever the bytes. 64 subscribers fit at
  /// 1920 × 1080, 17 at 3840 × 2160.
  public var poolBytes = 640 << 20
  /// Subscribers that one user may have at once, 1…64; users other than the publisher's own at
  /// most 32. The same share of the `holdQuota` is the most that they hold together.
  public var seatsPerUser = 56
  /// Whether the publisher waits for subscribers that request it. Not for live sources.
  public var allowsLossless = false
  /// How long a lossless subscriber may block the publisher without receiving anything, before its
  /// lossless delivery ends.
  public var losslessStallLimit: Duration = .seconds(10)
  /// How long a lossless subscriber may block the publisher in total, before its lossless delivery
  /// ends; nil for no limit, which suits files.
  public var losslessStallBudget: Duration? = .seconds(30)
  /// Whether each frame carries the CRC-32C of its bytes, which `SubscriberOptions
  /// .verifiesChecksums` checks. Computing it reads the frame once more, in `publish`.
  public var checksums = false
  /// Called with each new pool before it is sealed against further writable mappings.
  public var poolWillSeal: (@Sendable (PoolDescriptor) throws -> Void)?
  /// Called on the publishing thread when the stream starts, changes format, pauses, resumes and
  /// ends. Not called when the process is killed.
  public var streamChanged: (@Sendable (StreamChange) -> Void)?

  /// The usual options of a live source.
  public init() {}

  /// Slots besides those that are held.
  private var ownSlots: Int { ringDepth + maxLoans }
  private static let leastHolds = 8
  /// What the first pool may take without any subscriber having asked for it.
  var firstPoolBytes = 32 << 20

  /// Frames that can be held in slots of a size, all in all.
  func holds(ofSlots slotBytes: Int) -> Int {
    min(holdQuota, max(Self.leastHolds, poolBytes / slotBytes - ownSlots))
  }

  /// Those that the first pool of such slots has room for.
  func firstHolds(ofSlots slotBytes: Int) -> Int {
    min(holds(ofSlots: slotBytes), max(Self.leastHolds, firstPoolBytes / slotBytes - ownSlots))
  }

  func slotCount(holding holds: Int) -> Int { ownSlots + holds }

  func check() throws(PublisherError) {
    guard (2...Int(FB_MAXIMUM_RING_DEPTH)).contains(ringDepth) else {
      throw .wrongOptions("ringDepth is \(ringDepth); use 2 to \(FB_MAXIMUM_RING_DEPTH)")
    }
    guard (1...64).contains(maxLoans) else {
      throw .wrongOptions("maxLoans is \(maxLoans); use 1 to 64")
    }
    guard !allowsLossless || ringDepth > maxLoans else {
      throw .wrongOptions(
        "ringDepth is \(ringDepth) and maxLoans \(maxLoans); a lossless stream needs a deeper ring "
          + "than it has loans")
    }
    guard (1...Seats.count).contains(seatsPerUser) else {
      throw .wrongOptions("seatsPerUser is \(seatsPerUser); use 1 to \(Seats.count)")
    }
    let quotas = Int(FB_MAXIMUM_SUBSCRIBERS)...Int(FB_MAXIMUM_SUBSCRIBERS * FB_MAXIMUM_HOLDS)
    guard quotas.contains(holdQuota) else {
      throw .wrongOptions(
        "holdQuota is \(holdQuota); use \(quotas.lowerBound) to \(quotas.upperBound)")
    }
    guard poolBytes > 0 else {
      throw .wrongOptions("poolBytes is \(poolBytes); use 1 or more")
    }
    if let slotBytes, !(1...PoolView.maximumSlotBytes).contains(slotBytes) {
      throw .wrongOptions("slotBytes is \(slotBytes); use 1 to \(PoolView.maximumSlotBytes)")
    }
  }
}
