import CFrameBus
import FrameBus
import Platform

extension framebus_format {
  init(_ format: FrameFormat) {
    self.init()
    byte_count = UInt64(format.byteCount)
    kind = format.kind.rawValue
    fourcc = format.fourcc.rawValue
    width = UInt32(format.width)
    height = UInt32(format.height)
    rate_numerator = UInt32(format.frameRate.numerator)
    rate_denominator = UInt32(format.frameRate.denominator)
    plane_count = UInt32(format.planes.count)
    func plane(_ index: Int) -> framebus_plane {
      guard index < format.planes.count else { return framebus_plane() }
      return framebus_plane(
        offset: UInt32(format.planes[index].offset), stride: UInt32(format.planes[index].stride))
    }
    planes = (plane(0), plane(1), plane(2), plane(3))
    color_primaries = format.colorSpace.primaries.rawValue
    color_transfer = format.colorSpace.transfer.rawValue
    color_matrix = format.colorSpace.matrix.rawValue
    color_range = format.colorSpace.range.rawValue
    guard let audio = format.audio else { return }
    sample_format = audio.sampleFormat.rawValue
    sample_rate = UInt32(audio.sampleRate)
    channel_count = UInt32(audio.channelCount)
    channel_mask = audio.channelMask.rawValue
    is_planar = audio.isInterleaved ? 0 : 1
  }

  /// The format that C describes, checked.
  func format() throws(CFailure) -> FrameFormat {
    guard let kind = FrameFormat.Kind(rawValue: kind) else {
      throw .argument("format->kind is \(self.kind); use FRAMEBUS_KIND_VIDEO to _DATA")
    }
    guard let range = ColorSpace.Range(rawValue: color_range) else {
      throw .argument("format->color_range is \(color_range); use FRAMEBUS_RANGE_…")
    }
    guard plane_count <= UInt32(FRAMEBUS_MAXIMUM_PLANES), reserved == 0 else {
      throw .argument(
        "format->plane_count is \(plane_count), at most \(FRAMEBUS_MAXIMUM_PLANES) are possible; "
          + "reserved is \(reserved) and must be 0")
    }
    let planes = [self.planes.0, self.planes.1, self.planes.2, self.planes.3]
      .prefix(Int(plane_count))
      .map { Plane(offset: Int($0.offset), stride: Int($0.stride)) }
    // 0 in all three is H.273's “reserved”, and what a cleared structure has.
    let isCleared = color_primaries == 0 && color_transfer == 0 && color_matrix == 0
    let colors =
      isCleared && range == .unspecified
      ? ColorSpace.unspecified
      : ColorSpace(
        primaries: .init(rawValue: color_primaries), transfer: .init(rawValue: color_transfer),
        matrix: .init(rawValue: color_matrix), range: range)
    let rate = FrameRate(
      Int(rate_numerator), option(rate_denominator, default: rate_numerator == 0 ? 1 : 0))
    let audio = try audioFormat()
    return try FrameFormatError.converted(
      try FrameFormat(
        kind: kind, fourcc: FourCC(rawValue: fourcc), width: Int(width), height: Int(height),
        planes: planes, byteCount: Int(clamping: byte_count), frameRate: rate, colorSpace: colors,
        audio: audio))
  }

  private func audioFormat() throws(CFailure) -> AudioFormat? {
    if sample_format == 0, sample_rate == 0, channel_count == 0 { return nil }
    guard let sampleFormat = SampleFormat(rawValue: sample_format), is_planar <= 1 else {
      throw .argument(
        "format->sample_format is \(sample_format) and is_planar \(is_planar); use FRAMEBUS_U8 to "
          + "_F64BE, and 0 or 1")
    }
    return try FrameFormatError.converted(
      try AudioFormat(
        sampleFormat, sampleRate: Int(sample_rate), channelCount: Int(channel_count),
        channelMask: ChannelMask(rawValue: channel_mask), isInterleaved: is_planar == 0))
  }
}

@c @implementation
public func framebus_format_video(
  _ fourcc: UInt32, _ width: UInt32, _ height: UInt32,
  _ format: UnsafeMutablePointer<framebus_format>!, _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(format, "format")
    let made = try FrameFormatError.converted(
      try FrameFormat.video(FourCC(rawValue: fourcc), width: Int(width), height: Int(height)))
    try unsafe store(framebus_format(made), into: format)
    return FRAMEBUS_OK
  }
}

@c @implementation
public func framebus_format_audio(
  _ kind: UInt32, _ sample_format: UInt32, _ sample_rate: UInt32, _ channel_count: UInt32,
  _ maximum_sample_frames: UInt32, _ format: UnsafeMutablePointer<framebus_format>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(format, "format")
    guard let kind = FrameFormat.Kind(rawValue: kind),
      let sampleFormat = SampleFormat(rawValue: sample_format)
    else {
      throw .argument(
        "kind \(kind) or sample format \(sample_format) is unknown; use FRAMEBUS_KIND_APP_AUDIO "
          + "or _MIC_AUDIO, and FRAMEBUS_U8 to _F64BE")
    }
    let audio = try FrameFormatError.converted(
      try AudioFormat(
        sampleFormat, sampleRate: Int(sample_rate), channelCount: Int(channel_count)))
    let made = try FrameFormatError.converted(
      try FrameFormat.audio(kind, audio, maximumSampleFrameCount: Int(maximum_sample_frames)))
    try unsafe store(framebus_format(made), into: format)
    return FRAMEBUS_OK
  }
}

// MARK: - Metadata

extension framebus_rect {
  init(_ rect: PixelRect) {
    self.init(
      x: UInt32(clamping: rect.x), y: UInt32(clamping: rect.y),
      width: UInt32(clamping: rect.width), height: UInt32(clamping: rect.height))
  }

  var rect: PixelRect {
    PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
  }
}

extension framebus_metadata {
  /// - Parameter damage: the area that changed, as the caller means it.
  init(_ metadata: FrameMetadata, damage region: DamageRegion) {
    self.init()
    pts_ns = metadata.ptsNs
    duration_ns = metadata.durationNs
    captured_at_ns = metadata.capturedAtNs
    flags = metadata.flags.rawValue
    orientation = UInt32(metadata.orientation.rawValue)
    if let crop = metadata.crop { self.crop = framebus_rect(crop) }
    guard !region.isFull else {
      damage_count = UInt32.max
      return
    }
    let rects = region.rects.map { framebus_rect($0) }
    damage_count = UInt32(rects.count)
    func rect(_ index: Int) -> framebus_rect {
      index < rects.count ? rects[index] : framebus_rect()
    }
    damage = (rect(0), rect(1), rect(2), rect(3))
  }

  func metadata() throws(CFailure) -> FrameMetadata {
    guard let orientation = Orientation(rawValue: UInt8(clamping: orientation)) else {
      throw .argument("metadata->orientation is \(self.orientation); use 1 to 8")
    }
    guard reserved == 0 else {
      throw .argument("metadata->reserved is \(reserved); it must be 0")
    }
    var metadata = FrameMetadata(ptsNs: pts_ns, capturedAtNs: captured_at_ns)
    metadata.durationNs = duration_ns
    metadata.flags = FrameFlags(rawValue: flags)
    metadata.orientation = orientation
    if crop.width > 0, crop.height > 0 { metadata.crop = crop.rect }
    if damage_count == UInt32.max { return metadata }
    guard damage_count <= UInt32(FRAMEBUS_MAXIMUM_DAMAGE) else {
      throw .argument(
        "metadata->damage_count is \(damage_count); use 0 to \(FRAMEBUS_MAXIMUM_DAMAGE), or "
          + "FRAMEBUS_DAMAGE_FULL")
    }
    var region = DamageRegion.none
    if damage_count > 0 { region.insert(damage.0.rect) }
    if damage_count > 1 { region.insert(damage.1.rect) }
    if damage_count > 2 { region.insert(damage.2.rect) }
    if damage_count > 3 { region.insert(damage.3.rect) }
    metadata.damage = region
    return metadata
  }
}

@c @implementation
public func framebus_metadata_now(
  _ metadata: UnsafeMutablePointer<framebus_metadata>!,
  _ error: UnsafeMutablePointer<framebus_error>!
) -> Int32 {
  // SAFETY: as of all pointers of C (CStructures.swift).
  unsafe attempt(error) { () throws(CFailure) in
    try unsafe require(metadata, "metadata")
    try unsafe store(framebus_metadata(.now(), damage: .full), into: metadata)
    return FRAMEBUS_OK
  }
}
