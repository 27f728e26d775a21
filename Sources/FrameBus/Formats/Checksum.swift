import CChecksum
import CFrameLayout

/// CRC-32C of a frame's bytes. The publisher computes it at publish; subscribers may verify it.
///
/// It detects bytes that changed by accident after they were published: a source that writes too
/// late, or failing memory. It does not protect against a malicious publisher, which can change
/// bytes and checksum at any time.
package enum Checksum {
  /// - Parameter before: the checksum of the preceding bytes.
  package static func crc32c(_ bytes: RawSpan, after before: UInt32 = 0) -> UInt32 {
    // SAFETY: reads only the span's bytes, within the call.
    unsafe bytes.withUnsafeBytes { unsafe fb_crc32c(before, $0.baseAddress, $0.count) }
  }
}

extension fb_descriptor {
  mutating func set(_ checksum: UInt32?) {
    guard let checksum else { return }
    crc32c = checksum
    flags |= FrameFlags.checksummed.rawValue
  }

  var checksum: UInt32? {
    FrameFlags(rawValue: flags).contains(.checksummed) ? crc32c : nil
  }
}

extension PinLedger.Record {
  /// Whether the pinned frame matches its checksum. True without a checksum.
  var isIntact: Bool {
    guard let checksum = descriptor.checksum else { return true }
    // SAFETY: `payload` has `payload_bytes` bytes as long as the frame is pinned.
    let bytes = unsafe RawSpan(
      _unsafeStart: payload, byteCount: Int(descriptor.payload_bytes))
    return Checksum.crc32c(bytes) == checksum
  }

  /// Whether the start of a buffer, to which the frame was copied, matches the frame's checksum.
  func isIntact(as copy: borrowing MutableRawSpan) -> Bool {
    guard let checksum = descriptor.checksum else { return true }
    return Checksum.crc32c(copy.bytes.extracting(first: Int(descriptor.payload_bytes))) == checksum
  }
}
