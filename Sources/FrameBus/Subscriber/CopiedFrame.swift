/// What `Subscriber.copyNext` says about the frame whose bytes it copied.
public struct CopiedFrame: Hashable, Sendable {
  public let sequence: SequenceNumber
  /// Which publisher it came from: changes when the publisher is restarted.
  public let generation: UInt64
  public let format: FrameFormat
  public let metadata: FrameMetadata
  /// What changed since the frame that this subscriber received before.
  public let damage: DamageRegion
  /// CRC-32C of the bytes, if the publisher gives one.
  public let checksum: UInt32?
  /// When the publisher made it visible, `CLOCK_MONOTONIC`.
  public let publishedAtNs: UInt64
  /// Frames between the one received before and this one that this subscriber will never see.
  public let droppedBefore: UInt64
  /// Bytes that were written into the buffer.
  public let byteCount: Int
}

extension CopiedFrame {
  init(_ record: borrowing PinLedger.Record, generation: UInt64) {
    guard let format = record.format else {
      preconditionFailure("a frame was copied without its format")
    }
    self.format = format
    self.generation = generation
    sequence = SequenceNumber(rawValue: record.descriptor.sequence)
    metadata = FrameMetadata(record.descriptor, of: format)
    damage = record.changes.clipped(to: format.bounds)
    checksum = record.descriptor.checksum
    publishedAtNs = record.descriptor.published_at_ns
    droppedBefore = record.droppedBefore
    byteCount = Int(record.descriptor.payload_bytes)
  }
}
