#if Media
  /// Opus in ISO Base Media, as “Encapsulation of Opus in ISO Base Media File Format” (version
  /// 0.8.1, opus-codec.org/docs/opus_in_isobmff.html) describes it.
  extension MP4Boxes {
    /// The time that a decoder needs to be right after a jump, in packets of 20 ms (section
    /// 4.3.6.2: at least 80 ms).
    private static let recoveryPackets: UInt16 = 4

    /// The OpusSpecificBox (section 4.3.2): the fields of the identification header, in the other
    /// byte order.
    /// - Parameter header: as in RFC 7845, section 5.1. Without the signature and 11 bytes after
    ///   it, the box has the values of stereo.
    mutating func opusHeader(_ header: [UInt8]) {
      let signature = Array("OpusHead".utf8)
      let isWhole = header.count >= signature.count + 11 && header.starts(with: signature)
      let fields = isWhole ? header.dropFirst(signature.count).map(\.self) : Self.stereo
      box("dOps") {
        $0.byte(0)
        $0.byte(fields[1])
        $0.append(fields[2..<4].reversed())
        $0.append(fields[4..<8].reversed())
        $0.append(fields[8..<10].reversed())
        // Our encoder has one stream of one or two channels: mapping family 0, without a table.
        $0.byte(0)
      }
    }

    /// Version, channels, pre-skip, 48,000 a second, gain, mapping family.
    private static let stereo: [UInt8] = [1, 2, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0]

    /// All samples need those before them (AudioRollRecoveryEntry, ISO/IEC 14496-12, section 10.1):
    /// in version 2 the box names the group of samples that no other box names.
    mutating func opusRecovery() {
      box("sgpd", version: 2) {
        $0.text("roll")
        $0.word(2)
        $0.word(1)
        $0.word(1)
        $0.half(0 &- Self.recoveryPackets)
      }
    }
  }
#endif
