import FrameBus
import Sound

/// One stream of an upload, and how it is currently read.
struct UploadInput {
  /// Determined by the format of the first frame.
  enum Kind { case unknown, pictures, sound }

  let stream: StreamName
  var kind = Kind.unknown
  /// Nil while there is no subscription.
  var member: SubscriberSet.Member?
  var search: StreamSearch?
  var policy = DeliveryPolicy.latest
  /// Frames dropped by earlier subscriptions.
  private var dropsBefore: UInt64 = 0

  /// Set for a live stream until its first new picture.
  var start: FreshStart?
  /// The picture that was current at attachment, held back while a new one may still arrive.
  private(set) var heldBack: HeldFrame?

  init(_ stream: StreamName) { self.stream = stream }

  var isPictures: Bool { kind == .pictures }
  var isLossless: Bool { policy.isLossless }

  func drops(in set: borrowing SubscriberSet) -> UInt64 {
    guard let member else { return dropsBefore }
    return dropsBefore + set.droppedCount(of: member)
  }

  /// Why the stream is paused; nil if it is not.
  func pauseReason(in set: borrowing SubscriberSet) -> PauseReason? {
    guard let member else { return nil }
    return set.pauseReason(of: member)
  }

  /// Whether the stream shows a screen or window.
  func isOnScreen(in set: borrowing SubscriberSet) -> Bool {
    guard let member else { return false }
    return set.content(of: member)?.isOnScreen == true
  }

  /// Holds a picture back if it is older than the subscription.
  /// - Returns: whether it was held back.
  mutating func holdsBack(_ frame: HeldFrame) -> Bool {
    if start?.holdsBack(frame.lease) != true { start = nil }
    heldBack = start == nil ? nil : frame
    return heldBack != nil
  }

  /// Takes the picture that was held back; a new one is no longer waited for.
  mutating func takeHeldBack() -> HeldFrame? {
    start = nil
    return heldBack.take()
  }

  /// Ends the subscription.
  mutating func leave(_ set: inout SubscriberSet) {
    dropsBefore = drops(in: set)
    if let member { _ = set.remove(member) }
    member = nil
  }
}
