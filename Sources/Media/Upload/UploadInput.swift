import FrameBus
import Sound

/// One stream of an upload, and how it is read now.
struct UploadInput {
  /// Told by the format of its first frame.
  enum Kind { case unknown, pictures, sound }

  let stream: StreamName
  var kind = Kind.unknown
  /// Nil while there is no publisher to read from.
  var member: SubscriberSet.Member?
  var search: StreamSearch?
  var policy = DeliveryPolicy.latest
  /// Of subscriptions before the present one.
  private var dropsBefore: UInt64 = 0

  /// Of a live stream, until its first new picture.
  var start: FreshStart?
  /// The picture from before, while a new one may still come.
  private(set) var putBy: HeldFrame?

  /// Why its sound cannot be used.
  var refusal: SoundConverter.Refusal?

  init(_ stream: StreamName) { self.stream = stream }

  var isPictures: Bool { kind == .pictures }
  var isLossless: Bool { policy.isLossless }

  func drops(in set: borrowing SubscriberSet) -> UInt64 {
    guard let member else { return dropsBefore }
    return dropsBefore + set.droppedCount(of: member)
  }

  /// - Returns: whether the picture is to be put by, and was.
  mutating func putsBy(_ frame: HeldFrame) -> Bool {
    if start?.putsBy(frame.lease) != true { start = nil }
    putBy = start == nil ? nil : frame
    return putBy != nil
  }

  /// Takes what was put by; a new picture is waited for no longer.
  mutating func takePutBy() -> HeldFrame? {
    start = nil
    return putBy.take()
  }

  /// Gives its subscription up.
  mutating func leave(_ set: inout SubscriberSet) {
    dropsBefore = drops(in: set)
    if let member { _ = set.remove(member) }
    member = nil
  }
}
