#if Media
  import CGStreamer
  import Upload

  /// An encoded picture or packet of sound that several destinations receive. They share its bytes.
  ///
  /// SAFETY: the sample lives until `deinit`; GStreamer counts its references atomically.
  @safe final class KeptUnit: @unchecked Sendable {  // because a sample does not change

    /// Nil for a picture.
    let sound: SoundEncoder?
    let isKeyFrame: Bool
    /// Whether an output in segments begins one with this picture.
    let beginsSegment: Bool
    /// Its time on the upload's time line.
    let timeNs: UInt64
    let byteCount: Int
    let sample: UnsafeMutableRawPointer

    /// - Returns: nil if the unit has no format.
    init?(_ unit: EncodedUnit, sound: SoundEncoder?, beginsSegment: Bool = false) {
      guard let sample = unsafe unit.sample else { return nil }
      unsafe self.sample = upload_sample_ref(sample)
      self.sound = sound
      isKeyFrame = sound == nil && unit.isKeyFrame
      self.beginsSegment = beginsSegment
      timeNs = unit.timeNs
      byteCount = unit.byteCount
    }

    deinit { unsafe upload_sample_unref(sample) }

    var isSound: Bool { sound != nil }
  }
#endif
