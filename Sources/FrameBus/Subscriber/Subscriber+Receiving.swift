import CFrameLayout

// Receives the chosen frame: pins it for a lease, or copies it without a hold.
extension Subscriber {
  /// The publisher may overwrite a frame between choosing and pinning it; this bounds retries.
  private static let maximumTries = 64

  /// The result of checking a frame's descriptor against our own mappings.
  private enum Verdict {
    case whole
    /// Its pool has yet to arrive.
    case awaitsPool
    case dropped(DropReason)
  }

  enum Found {
    /// A frame, pinned by this hold word.
    case pinned(hold: Int)
    /// The frame's pool has yet to arrive: the bell rings when it does.
    case awaitsPool
    case nothing
  }

  /// - Parameter newest: the cursor as the caller has seen it.
  mutating func receive(
    from attachment: Attachment, upTo newest: UInt64
  ) throws(ReceiveError) -> Found {
    let start = position
    defer { if position != start { note(attachment) } }
    for attempt in 0..<Self.maximumTries {
      let cursor = attempt == 0 ? newest : attachment.cursor
      // Overwritten frames are dropped even if a publisher that stopped or died in between has not
      // moved the cursor: they must not keep us from the frames still in the ring.
      guard !attachment.isEvicted, let sequence = choose(upTo: cursor, attachment) else {
        return .nothing
      }
      guard let hold = attachment.takeHold() else {
        throw .holdsExhausted(granted: attachment.grantedHolds)
      }
      guard attachment.pin(sequence, with: hold) else {
        attachment.release(hold)
        if !attachment.isEvicted { giveUpLapped(through: sequence, attachment) }
        continue
      }
      let verdict: Verdict
      do throws(ReceiveError) {
        verdict = try judge(hold, attachment)
      } catch {
        attachment.release(hold)
        throw error
      }
      switch verdict {
      case .whole where options.verifiesChecksums && !attachment.pins[hold].isIntact:
        attachment.release(hold)
        giveUp(through: sequence, .corrupt, attachment)
      case .whole:
        take(sequence, hold, attachment)
        return .pinned(hold: hold)
      case .awaitsPool:
        attachment.release(hold)
        return .awaitsPool
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

  /// - Parameter newest: the cursor as the caller has seen it.
  mutating func copy(
    from attachment: Attachment, upTo newest: UInt64, into buffer: inout MutableRawSpan
  ) throws(ReceiveError) -> CopyStep {
    let start = position
    defer { if position != start { note(attachment) } }
    for attempt in 0..<Self.maximumTries {
      let cursor = attempt == 0 ? newest : attachment.cursor
      guard !attachment.isEvicted, let sequence = choose(upTo: cursor, attachment) else {
        return .nothing
      }
      guard attachment.copyDescriptor(of: sequence, for: PinLedger.copied) else {
        giveUpLapped(through: sequence, attachment)
        continue
      }
      switch try judge(PinLedger.copied, attachment) {
      case .whole: break
      case .awaitsPool: return .awaitsPool
      // Bytes overwritten while their checksum is computed are not corrupt.
      case .dropped where !attachment.stillStands(sequence):
        giveUpLapped(through: sequence, attachment)
        continue
      case .dropped(let reason):
        giveUp(through: sequence, reason, attachment)
        continue
      }
      let byteCount = Int(attachment.pins[PinLedger.copied].descriptor.payload_bytes)
      guard byteCount <= buffer.byteCount else { throw .bufferTooSmall(frameBytes: byteCount) }
      attachment.pins[PinLedger.copied].copyPayload(into: &buffer)
      guard attachment.stillStands(sequence) else {
        giveUpLapped(through: sequence, attachment)
        continue
      }
      // Only now, because the copied bytes could have been overwritten meanwhile.
      if options.verifiesChecksums, !attachment.pins[PinLedger.copied].isIntact(as: buffer) {
        giveUp(through: sequence, .corrupt, attachment)
        continue
      }
      take(sequence, PinLedger.copied, attachment)
      return .copied(
        CopiedFrame(attachment.pins[PinLedger.copied], generation: attachment.generation))
    }
    return .nothing
  }

  /// Counts the frame after `position` as received.
  private mutating func take(_ sequence: UInt64, _ hold: Int, _ attachment: Attachment) {
    attachment.pins[hold].droppedBefore = droppedSince
    let formatEpoch = attachment.pins[hold].descriptor.format_epoch
    attachment.pins[hold].damage = damageHistory.advance(to: sequence, formatEpoch: formatEpoch) {
      // This frame's own descriptor may have been overwritten by now.
      $0 == sequence ? attachment.pins[hold].descriptor : attachment.standingDescriptor(of: $0)
    }
    droppedSince = 0
    position = sequence
    receivedCount += 1
    awaitsKeyFrame = false
    latency.note(
      sequence, publishedAtNs: attachment.pins[hold].descriptor.published_at_ns,
      in: attachment.page)
  }

  /// Checks the descriptor in a record of the ledger against our own mappings.
  private func judge(_ hold: Int, _ attachment: Attachment) throws(ReceiveError) -> Verdict {
    let generation = attachment.pins[hold].descriptor.pool_generation
    if attachment.pins[hold].poolGeneration != generation || generation == 0 {
      switch attachment.pool(generation) {
      case .here(let pool): attachment.pins[hold].pool = pool
      case .onItsWay: return .awaitsPool
      case .gone: return .dropped(.unreachable)
      }
      attachment.forgetPools(otherThan: generation)
    }
    let payloadBytes = attachment.pins[hold].descriptor.payload_bytes
    guard attachment.pins[hold].descriptor.slot < attachment.pins[hold].slotCount,
      payloadBytes <= UInt64(attachment.pins[hold].slotBytes)
    else { throw .untrusted(attachment.stream, "a frame lies outside its pool") }
    let epoch = attachment.pins[hold].descriptor.format_epoch
    if attachment.pins[hold].formatEpoch != epoch || epoch == 0 {
      let sequence = attachment.pins[hold].descriptor.sequence
      switch attachment.format(epoch: epoch, of: sequence) {
      case .lapped: return .dropped(.lapped)
      case .malformed: throw .untrusted(attachment.stream, "a frame's format is malformed")
      case .found(let format):
        attachment.pins[hold].format = format
        attachment.pins[hold].formatEpoch = epoch
      }
    }
    guard attachment.pins[hold].payloadRule.admits(payloadBytes)
    else { throw .untrusted(attachment.stream, "a frame's size does not match its format") }
    return .whole
  }
}
