/// A description of the frame that `Subscriber.copyNext` copied.
public struct CopiedFrame: Hashable, Sendable {
  /// Its number, which counts from 1.
  public let sequence: SequenceNumber
  /// The publisher's generation, which changes when the publisher restarts.
  public let generation: UInt64
  /// Its format, which describes the copied bytes.
  public let format: FrameFormat
  /// Its times and properties.
  public let metadata: FrameMetadata
  /// The area that changed since this subscriber's previous frame.
  public let damage: DamageRegion
  /// CRC-32C of the bytes, if the publisher computes one.
  public let checksum: UInt32?
  /// When the publisher published it, `CLOCK_MONOTONIC`.
  public let publishedAtNs: UInt64
  /// Number of frames dropped between the previous received frame and this one.
  public let droppedBefore: UInt64
  /// Number of bytes written into the buffer.
  public let byteCount: Int
  /// Changes with the format, within a generation.
  package let formatEpoch: UInt64
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
    formatEpoch = record.descriptor.format_epoch
  }
}
