/// Which frame comes next, and the account of those that never will.
///
/// `position` is the last frame received or given up. It moves by one frame received, or over
/// frames that are counted as dropped with their reason, and in no other way: so what was received
/// and dropped adds up to how far it came.
extension Subscriber {
  /// Gives up what the ring no longer has and what the policy passes over.
  /// - Parameter cursor: the newest frame, as last seen: its line is not fetched again.
  /// - Returns: the frame to receive next, which is the one after `position`; nil for none yet.
  mutating func choose(upTo cursor: UInt64, _ attachment: Attachment) -> UInt64? {
    // A cursor behind us is a publisher that breaks the protocol: to us nothing is new.
    guard cursor > position else { return nil }
    let depth = UInt64(attachment.ringDepth)
    if cursor - position > depth { giveUpLapped(through: cursor - depth, attachment) }
    if awaitsKeyFrame { return chooseKeyFrame(upTo: cursor, attachment) }
    switch options.policy {
    case .latest: giveUp(through: cursor - 1, .passedOver, attachment)
    case .keepLatest(let count):
      let kept = min(cursor, UInt64(count))
      giveUp(through: cursor - kept, .passedOver, attachment)
    case .everyNth(let count):
      let step = UInt64(count) - position % UInt64(count)
      guard step <= cursor - position else {
        giveUp(through: cursor, .passedOver, attachment)
        return nil
      }
      giveUp(through: position + step - 1, .passedOver, attachment)
    case .lossless, .keyFrameAware: break
    }
    return position + 1
  }

  /// The first key frame after `position`, if there is one; what lies before it is given up.
  private mutating func chooseKeyFrame(upTo cursor: UInt64, _ attachment: Attachment) -> UInt64? {
    // Where this descriptor is overwritten by now, there is a newer cursor to look from.
    guard let newest = attachment.keyFrame(of: cursor) else { return nil }
    guard newest > position, newest <= cursor else {
      giveUp(through: cursor, .awaitingKeyFrame, attachment)
      return nil
    }
    // At most a ring of them, since what was lapped is given up.
    let first = (position + 1...newest).first { attachment.keyFrame(of: $0) == $0 } ?? newest
    giveUp(through: first - 1, .awaitingKeyFrame, attachment)
    return first
  }

  /// Gives up frames up to `last`, beyond `position`, that were overwritten before they were
  /// received.
  mutating func giveUpLapped(through last: UInt64, _ attachment: Attachment) {
    switch options.policy {
    case .latest: giveUp(through: last, .passedOver, attachment)
    case .everyNth(let count):
      // Only the multiples were wanted.
      let wanted = last / UInt64(count) - position / UInt64(count)
      self.count(wanted, .lapped, attachment)
      self.count(last - position - wanted, .passedOver, attachment)
      position = last
    case .lossless where attachment.losslessHasEnded:
      giveUp(through: last, .losslessEnded, attachment)
      noteLosslessEnd()
    case .lossless, .keepLatest, .keyFrameAware: giveUp(through: last, .lapped, attachment)
    }
  }

  /// Counts the frames up to `last` as dropped.
  mutating func giveUp(through last: UInt64, _ reason: DropReason, _ attachment: Attachment) {
    guard last > position else { return }
    count(last - position, reason, attachment)
    position = last
    if case .keyFrameAware = options.policy { awaitsKeyFrame = true }
  }

  private mutating func count(_ frames: UInt64, _ reason: DropReason, _ attachment: Attachment) {
    drops.add(frames, reason)
    droppedSince &+= frames
    attachment.noteDrops(drops, reason)
  }
}
