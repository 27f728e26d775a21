// The module Replay: a file in memory that holds the newest seconds of an upload, encoded, and
// outlives the uploader. Layout and failures: docs/design/replay.md.
//
// It refuses to know an encoder or a container, and to trust the file: whatever a reader finds in
// it is bounded by the file's actual size, read once, and used only if its checksum is right.

import FrameBus
import Platform

/// A picture or a piece of sound, encoded: H.264 access units with their parameter sets (Annex B
/// of ITU-T H.264), or raw AAC-LC frames of two channels at 48,000 sample frames a second.
package struct ReplayUnit: Hashable, Sendable {
  package enum Kind: UInt8, Sendable {
    case picture = 1
    case sound = 2
  }

  package var kind: Kind
  /// Whether decoding can begin here. Sound always can.
  package var isKey: Bool
  package var ptsNs: UInt64
  package var dtsNs: UInt64
  package var durationNs: UInt64
  package var bytes: [UInt8]

  package init(
    _ kind: Kind, isKey: Bool, ptsNs: UInt64, dtsNs: UInt64, durationNs: UInt64, bytes: [UInt8]
  ) {
    self.kind = kind
    self.isKey = isKey
    self.ptsNs = ptsNs
    self.dtsNs = dtsNs
    self.durationNs = durationNs
    self.bytes = bytes
  }
}

/// The names of a stream's replay files in the group's directory of streams.
package enum ReplayFile {
  private static let suffix = ".replay"
  private static let crashedSuffix = suffix + ".crashed"

  /// - Parameter isCrashed: whether it is the file that a crashed uploader left to its successor.
  package static func name(of stream: StreamName, isCrashed: Bool = false) -> String {
    stream.text + (isCrashed ? crashedSuffix : suffix)
  }

  /// The stream of a file's name; nil for other files.
  package static func stream(of name: String) -> StreamName? {
    for suffix in [crashedSuffix, suffix] where name.hasSuffix(suffix) {
      return try? StreamName(String(name.dropLast(suffix.count)))
    }
    return nil
  }
}

/// The length of a replay as a user writes it: `60s`, `60` or `2m`.
package struct ReplayLength: Hashable, Sendable {
  package static let limits = 1.0...600.0
  package static let advice = "write 1s to 600s, such as 60s"

  package let seconds: Double
  package var nanoseconds: UInt64 { UInt64(seconds * 1e9) }

  /// - Returns: nil for any other text.
  package init?(_ text: String) {
    let factor = text.hasSuffix("m") ? 60.0 : 1.0
    let digits = text.hasSuffix("m") || text.hasSuffix("s") ? text.dropLast() : text[...]
    guard let first = digits.first, first.isASCII, first.isNumber, let number = Double(digits),
      Self.limits.contains(number * factor)
    else { return nil }
    seconds = number * factor
  }
}

func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
  // SAFETY: bytes have no padding.
  unsafe Checksum.crc32c(bytes.span.bytes)
}
