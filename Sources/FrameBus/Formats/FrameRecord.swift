import CFrameLayout

/// A frame's format and metadata as a descriptor and a format of CFrameLayout.h, for files that
/// outlive the stream. The frame's location on the bus is omitted.
package struct FrameRecord: Hashable, Sendable {
  /// The length of `bytes`.
  package static let recordBytes = Int(FB_DESCRIPTOR_BYTES) + Int(FB_FORMAT_BYTES)

  package let sequence: SequenceNumber
  package let publishedAtNs: UInt64
  package let byteCount: Int
  package let metadata: FrameMetadata
  package let format: FrameFormat
  /// CRC-32C of the bytes, if the publisher computed one.
  package let checksum: UInt32?

  package init(_ lease: borrowing FrameLease) {
    sequence = lease.sequence
    publishedAtNs = lease.publishedAtNs
    byteCount = lease.byteCount
    metadata = lease.metadata
    format = lease.format
    checksum = lease.checksum
  }

  /// A descriptor followed by a format.
  package var bytes: [UInt8] {
    var descriptor = fb_descriptor()
    metadata.store(into: &descriptor)
    descriptor.sequence = sequence.rawValue
    descriptor.payload_bytes = UInt64(byteCount)
    descriptor.published_at_ns = publishedAtNs
    descriptor.set(checksum)
    // SAFETY: both are plain words without padding.
    return unsafe withUnsafeBytes(of: descriptor) { unsafe Array($0) }
      + withUnsafeBytes(of: format.record(epoch: 0)) { unsafe Array($0) }
  }

  /// Returns nil for invalid records. The bytes are untrusted.
  package init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.recordBytes else { return nil }
    // SAFETY: both lie within the bytes, as checked, and every bit pattern is valid for them.
    let (descriptor, format) = unsafe bytes.withUnsafeBytes { bytes in
      unsafe (
        bytes.loadUnaligned(as: fb_descriptor.self),
        bytes.loadUnaligned(fromByteOffset: Int(FB_DESCRIPTOR_BYTES), as: fb_format.self)
      )
    }
    guard let format = FrameFormat(format),
      descriptor.payload_bytes <= UInt64(FrameFormat.maximumByteCount),
      format.planes.isEmpty || descriptor.payload_bytes >= UInt64(format.byteCount)
    else { return nil }
    sequence = SequenceNumber(rawValue: descriptor.sequence)
    publishedAtNs = descriptor.published_at_ns
    byteCount = Int(descriptor.payload_bytes)
    metadata = FrameMetadata(descriptor, of: format)
    checksum = descriptor.checksum
    self.format = format
  }
}
