import CFrameLayout

// From a sequence number to a frame: pinned for a lease, or copied without a hold.
extension Subscriber {
  /// The publisher may lap us between choosing a frame and having it; not for ever.
  private static let maximumTries = 64

  /// What a frame's descriptor turned out to be, held against our own mappings.
  private enum Verdict {
    case whole
    /// Its memory has yet to arrive.
    case awaitsPool
    case dropped(DropReason)
  }

  mutating func receive(from attachment: Attachment) throws(ReceiveError) -> Step {
    let start = position
    defer { if position != start { note(attachment) } }
    for _ in 0..<Self.maximumTries {
      // What was found overwritten is given up, also where a publisher that stopped or died in
      // between keeps the cursor from showing it: it must not keep us from what still stands.
      guard !attachment.isEvicted, let sequence = choose(attachment) else { return .nothing }
      guard let hold = attachment.takeHold() else {
        throw .holdsExhausted(granted: attachment.grantedHolds)
      }
      guard attachment.pin(sequence, with: hold, copyTo: &descriptor) else {
        attachment.release(hold)
        if !attachment.isEvicted { giveUpLapped(through: sequence, attachment) }
        continue
      }
      let verdict: Verdict
      do throws(ReceiveError) {
        verdict = try judge(attachment)
      } catch {
        attachment.release(hold)
        throw error
      }
      switch verdict {
      case .whole: return .frame(hold: hold, droppedBefore: take(sequence))
      case .awaitsPool:
        attachment.release(hold)
        return .awaitBell
      case .dropped(let reason):
        attachment.release(hold)
        giveUp(through: sequence, reason, attachment)
      }
    }
    return .nothing
  }

  enum CopyStep {
    case copied(CopiedFrame)
    case awaitsPool
    case nothing
  }

  mutating func copy(
    from attachment: Attachment, into buffer: inout MutableRawSpan
  ) throws(ReceiveError) -> CopyStep {
    let start = position
    defer { if position != start { note(attachment) } }
    for _ in 0..<Self.maximumTries {
      guard !attachment.isEvicted, let sequence = choose(attachment) else { return .nothing }
      guard attachment.look(at: sequence, copyTo: &descriptor) else {
        giveUpLapped(through: sequence, attachment)
        continue
      }
      switch try judge(attachment) {
      case .whole: break
      case .awaitsPool: return .awaitsPool
      case .dropped(let reason):
        giveUp(through: sequence, reason, attachment)
        continue
      }
      guard let pool, let format = format?.value else { continue }
      let byteCount = Int(descriptor.payload_bytes)
      guard byteCount <= buffer.byteCount else { throw .bufferTooSmall(frameBytes: byteCount) }
      pool.copy(byteCount, ofSlot: Int(descriptor.slot), into: &buffer)
      guard attachment.stillStands(sequence) else {
        giveUpLapped(through: sequence, attachment)
        continue
      }
      return .copied(
        CopiedFrame(
          sequence: SequenceNumber(rawValue: sequence), generation: attachment.generation,
          format: format, metadata: FrameMetadata(descriptor),
          publishedAtNs: descriptor.published_at_ns, droppedBefore: take(sequence),
          byteCount: byteCount))
    }
    return .nothing
  }

  /// Counts the frame after `position` as received.
  /// - Returns: how many were dropped since the one before.
  private mutating func take(_ sequence: UInt64) -> UInt64 {
    defer { droppedSince = 0 }
    position = sequence
    receivedCount += 1
    awaitsKeyFrame = false
    return droppedSince
  }

  /// Checks what a frame's descriptor says against our own mappings.
  private mutating func judge(_ attachment: Attachment) throws(ReceiveError) -> Verdict {
    if pool?.generation != descriptor.pool_generation {
      guard let found = attachment.pool(descriptor.pool_generation) else {
        return attachment.awaitsPool(descriptor.pool_generation)
          ? .awaitsPool : .dropped(.unreachable)
      }
      pool = found
    }
    guard let pool, Int(descriptor.slot) < pool.slotCount,
      descriptor.payload_bytes <= UInt64(pool.slotBytes)
    else { throw .untrusted(attachment.stream, "a frame does not lie in its pool") }
    if format?.epoch != descriptor.format_epoch {
      switch attachment.format(epoch: descriptor.format_epoch, of: descriptor.sequence) {
      case .lapped: return .dropped(.lapped)
      case .malformed: throw .untrusted(attachment.stream, "a frame's format is malformed")
      case .found(let value): format = (descriptor.format_epoch, value)
      }
    }
    guard let format = format?.value,
      format.planes.isEmpty || UInt64(format.byteCount) <= descriptor.payload_bytes
    else { throw .untrusted(attachment.stream, "a frame is shorter than its format") }
    return .whole
  }
}
