import CChecksum

/// CRC-32C of log bytes.
@inline(__always)
func recordChecksum(_ bytes: RawSpan) -> UInt32 {
  // SAFETY: reads the span's bytes, within the call.
  unsafe bytes.withUnsafeBytes { unsafe fb_crc32c(0, $0.baseAddress, $0.count) }
}
