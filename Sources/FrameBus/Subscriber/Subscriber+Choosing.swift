/// Chooses the next frame and counts dropped frames.
///
/// `position` is the last frame received or dropped. It advances only by one received frame, or
/// over frames that are counted as dropped with a reason. So received and dropped frames always add
/// up to the distance covered.
extension Subscriber {
  /// Drops the frames that the ring no longer contains and those that the policy skips.
  /// - Parameter cursor: the newest frame, as last loaded; its cache line is not fetched again.
  /// - Returns: the frame to receive next, the one after `position`; nil if no frame is ready.
  mutating func choose(upTo cursor: UInt64, _ attachment: Attachment) -> UInt64? {
    // A cursor behind our position violates the protocol; it is treated as no news.
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

  /// The first key frame after `position`, if there is one; drops the frames before it.
  private mutating func chooseKeyFrame(upTo cursor: UInt64, _ attachment: Attachment) -> UInt64? {
    // If this descriptor has been overwritten, a later call starts from a newer cursor.
    guard let newest = attachment.keyFrame(of: cursor) else { return nil }
    guard newest > position, newest <= cursor else {
      giveUp(through: cursor, .awaitingKeyFrame, attachment)
      return nil
    }
    // At most `ringDepth` iterations, because lapped frames were dropped above.
    let first = (position + 1...newest).first { attachment.keyFrame(of: $0) == $0 } ?? newest
    giveUp(through: first - 1, .awaitingKeyFrame, attachment)
    return first
  }

  /// Drops the frames after `position` up to `last`, which were overwritten before they were
  /// received.
  mutating func giveUpLapped(through last: UInt64, _ attachment: Attachment) {
    switch options.policy {
    case .latest: giveUp(through: last, .passedOver, attachment)
    case .everyNth(let count):
      // The policy requests only the multiples.
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
