#if Media
  /// A track of a fragmented MP4 file: H.264 pictures, or AAC or Opus sound.
  struct MP4Track: Equatable {
    enum Medium: Equatable {
      case picture(width: Int, height: Int)
      case sound(SoundEncoder)
    }

    let medium: Medium
    /// The AVCDecoderConfigurationRecord (ISO/IEC 14496-15, section 5.3.3.1), the
    /// AudioSpecificConfig (ISO/IEC 14496-3, section 1.6.2.1) or the identification header of Opus
    /// (RFC 7845, section 5.1).
    let configuration: [UInt8]

    init(width: Int, height: Int, configuration: [UInt8]) {
      medium = .picture(width: width, height: height)
      self.configuration = configuration
    }

    init(ofSound configuration: [UInt8]) {
      let isOpus = configuration.starts(with: "OpusHead".utf8)
      medium = .sound(isOpus ? .opus : .aac)
      self.configuration = configuration
    }

    private static let soundRate: UInt32 = 48_000
    private static let pictureRate: UInt32 = 90_000

    var sound: SoundEncoder? { if case .sound(let encoder) = medium { encoder } else { nil } }
    var isSound: Bool { sound != nil }
    /// Ticks of its time stamps in a second.
    var timescale: UInt32 { isSound ? Self.soundRate : Self.pictureRate }

    /// The codec and its profile (RFC 6381, section 3.3).
    var codec: String {
      switch sound {
      case .aac: return "mp4a.40.\((configuration.first ?? 0) >> 3)"
      case .opus: return "opus"
      case nil: break
      }
      let profile = configuration.dropFirst().prefix(3).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
      return "avc1." + profile.joined()
    }

    /// The time that its last sample takes; pictures have none of their own.
    var lastStepNs: UInt64 {
      switch sound {
      case .aac: 1024 * 1_000_000_000 / UInt64(Self.soundRate)
      case .opus: SoundFeed.shortestBatchNs
      case nil: 0
      }
    }

    func ticks(_ timeNs: UInt64) -> UInt64 {
      let (seconds, rest) = timeNs.quotientAndRemainder(dividingBy: 1_000_000_000)
      let scale = UInt64(timescale)
      return seconds * scale + (rest * scale + 500_000_000) / 1_000_000_000
    }
  }

  /// What is decoded at one time, and shown then: no encoder here reorders pictures.
  struct MP4Sample {
    let timeNs: UInt64
    let isKey: Bool
    let bytes: [UInt8]
  }

  /// A part of one track.
  struct MP4Run {
    let track: MP4Track
    let samples: ArraySlice<MP4Sample>
    /// When the last sample ends.
    let endNs: UInt64
  }

  /// Fragmented MP4 as RFC 8216, section 3.3, wants it: an initialization section, and fragments
  /// that contain no addresses of anything outside.
  enum FragmentedMP4 {
    // MARK: Initialization section

    static func initialization(_ tracks: [MP4Track]) -> [UInt8] {
      var boxes = MP4Boxes()
      boxes.box("ftyp") {
        $0.text("iso6")
        $0.word(0)
        $0.text("iso6mp41")
      }
      boxes.box("moov") { boxes in
        boxes.box("mvhd", version: 0) {
          $0.zeros(8)
          $0.word(1000)
          $0.word(0)  // The duration of what follows is not known.
          $0.word(0x0001_0000)
          $0.half(0x0100)
          $0.zeros(10)
          $0.matrix()
          $0.zeros(24)
          $0.word(UInt32(tracks.count + 1))
        }
        for (index, track) in tracks.enumerated() { boxes.track(track, number: index + 1) }
        boxes.box("mvex") { boxes in
          for index in tracks.indices {
            boxes.box("trex", version: 0) {
              $0.word(UInt32(index + 1))
              $0.word(1)
              $0.zeros(12)
            }
          }
        }
      }
      return boxes.bytes
    }

    // MARK: Fragments

    /// Sample flags (section 8.8.3.1): a picture that depends on no other, and one that does.
    fileprivate static let keyFlags: UInt32 = 0x0200_0000
    fileprivate static let otherFlags: UInt32 = 0x0101_0000
    /// Addresses begin at this fragment.
    fileprivate static let baseIsMoof: UInt32 = 0x020000
    /// The run has an address, and each sample a duration, a size and flags.
    fileprivate static let runFlags: UInt32 = 0x000701

    /// - Parameters:
    ///   - number: increases from fragment to fragment.
    ///   - runs: one for each track of the initialization section, in its order.
    static func fragment(_ number: UInt64, _ runs: [MP4Run]) -> [UInt8] {
      var boxes = MP4Boxes()
      var addresses: [Int] = []
      boxes.box("moof") { boxes in
        boxes.box("mfhd", version: 0) { $0.word(UInt32(truncatingIfNeeded: number)) }
        for (index, run) in runs.enumerated() where !run.samples.isEmpty {
          boxes.box("traf") { addresses.append($0.run(run, number: index + 1)) }
        }
      }
      var dataStart = boxes.bytes.count + 8
      for (run, address) in zip(runs.filter { !$0.samples.isEmpty }, addresses) {
        boxes.patch(UInt32(dataStart), at: address)
        dataStart += run.samples.reduce(0) { $0 + $1.bytes.count }
      }
      boxes.box("mdat") { boxes in
        for run in runs { for sample in run.samples { boxes.append(sample.bytes) } }
      }
      return boxes.bytes
    }
  }

  extension MP4Boxes {
    /// - Returns: where the address of the run's data belongs.
    fileprivate mutating func run(_ run: MP4Run, number: Int) -> Int {
      let track = run.track
      let ticks = run.samples.map { track.ticks($0.timeNs) } + [track.ticks(run.endNs)]
      box("tfhd", version: 0, flags: FragmentedMP4.baseIsMoof) { $0.word(UInt32(number)) }
      box("tfdt", version: 1) { $0.long(ticks[0]) }
      var address = 0
      box("trun", version: 0, flags: FragmentedMP4.runFlags) { boxes in
        boxes.word(UInt32(run.samples.count))
        address = boxes.bytes.count
        boxes.word(0)
        for (index, sample) in run.samples.enumerated() {
          boxes.word(UInt32(clamping: ticks[index + 1] &- min(ticks[index], ticks[index + 1])))
          boxes.word(UInt32(sample.bytes.count))
          boxes.word(sample.isKey ? FragmentedMP4.keyFlags : FragmentedMP4.otherFlags)
        }
      }
      return address
    }

    fileprivate mutating func track(_ track: MP4Track, number: Int) {
      box("trak") { boxes in
        boxes.trackHeader(track, number: number)
        boxes.box("mdia") { boxes in
          boxes.box("mdhd", version: 0) {
            $0.zeros(8)
            $0.word(track.timescale)
            $0.word(0)
            $0.half(0x55c4)  // The language is undetermined.
            $0.half(0)
          }
          boxes.box("hdlr", version: 0) {
            $0.word(0)
            $0.text(track.isSound ? "soun" : "vide")
            $0.zeros(13)
          }
          boxes.box("minf") { boxes in
            if track.isSound {
              boxes.box("smhd", version: 0) { $0.word(0) }
            } else {
              boxes.box("vmhd", version: 0, flags: 1) { $0.zeros(8) }
            }
            boxes.box("dinf") {
              $0.box("dref", version: 0) {
                $0.word(1)
                $0.box("url ", version: 0, flags: 1) { _ in }
              }
            }
            boxes.sampleTable(track)
          }
        }
      }
    }

    private mutating func trackHeader(_ track: MP4Track, number: Int) {
      box("tkhd", version: 0, flags: 7) {
        $0.zeros(8)
        $0.word(UInt32(number))
        $0.zeros(20)
        $0.half(track.isSound ? 0x0100 : 0)
        $0.half(0)
        $0.matrix()
        let (width, height) = track.size
        $0.word(UInt32(width) << 16)
        $0.word(UInt32(height) << 16)
      }
    }

    /// Without samples: these are in fragments.
    private mutating func sampleTable(_ track: MP4Track) {
      box("stbl") { boxes in
        boxes.box("stsd", version: 0) {
          $0.word(1)
          if let sound = track.sound {
            $0.soundEntry(track, sound)
          } else {
            $0.pictureEntry(track)
          }
        }
        boxes.box("stts", version: 0) { $0.word(0) }
        boxes.box("stsc", version: 0) { $0.word(0) }
        boxes.box("stsz", version: 0) { $0.zeros(8) }
        boxes.box("stco", version: 0) { $0.word(0) }
        if track.sound == .opus { boxes.opusRecovery() }
      }
    }

    private mutating func pictureEntry(_ track: MP4Track) {
      box("avc1") { boxes in
        boxes.zeros(6)
        boxes.half(1)
        boxes.zeros(16)
        boxes.half(UInt16(track.size.width))
        boxes.half(UInt16(track.size.height))
        boxes.word(0x0048_0000)  // 72 dots per inch
        boxes.word(0x0048_0000)
        boxes.word(0)
        boxes.half(1)
        boxes.zeros(32)
        boxes.half(0x0018)
        boxes.half(0xffff)
        boxes.box("avcC") { $0.append(track.configuration) }
      }
    }

    private mutating func soundEntry(_ track: MP4Track, _ sound: SoundEncoder) {
      box(sound == .opus ? "Opus" : "mp4a") { boxes in
        boxes.zeros(6)
        boxes.half(1)
        boxes.zeros(8)
        boxes.half(2)
        boxes.half(16)
        boxes.word(0)
        boxes.word(track.timescale << 16)
        if sound == .opus { return boxes.opusHeader(track.configuration) }
        // Descriptors (ISO/IEC 14496-1, section 7.2.6), whose lengths fit into one byte.
        let count = UInt8(min(64, track.configuration.count))
        boxes.box("esds", version: 0) {
          $0.append([3, 23 + count, 0, 0, 0])
          $0.append([4, 15 + count, 0x40, 0x15, 0, 0, 0])
          $0.zeros(8)
          $0.append([5, count])
          $0.append(Array(track.configuration.prefix(Int(count))))
          $0.append([6, 1, 2])
        }
      }
    }

    /// The unity matrix.
    fileprivate mutating func matrix() {
      for value: UInt32 in [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000] { word(value) }
    }
  }

  extension MP4Track {
    var size: (width: Int, height: Int) {
      if case .picture(let width, let height) = medium { (width, height) } else { (0, 0) }
    }
  }
#endif
