import CFrameLayout

extension FrameFormat {
  /// The record on the board.
  package func record(epoch: UInt64) -> fb_format {
    var record = fb_format()
    record.epoch = epoch
    record.kind = kind.rawValue
    record.fourcc = fourcc.rawValue
    record.width = UInt32(width)
    record.height = UInt32(height)
    record.byte_count = UInt64(byteCount)
    record.plane_count = UInt32(planes.count)
    record.color_space = colorSpace.packed
    record.rate_numerator = UInt32(frameRate.numerator)
    record.rate_denominator = UInt32(frameRate.denominator)
    func offset(_ index: Int) -> UInt32 { index < planes.count ? UInt32(planes[index].offset) : 0 }
    func stride(_ index: Int) -> UInt32 { index < planes.count ? UInt32(planes[index].stride) : 0 }
    record.plane_offsets = (offset(0), offset(1), offset(2), offset(3))
    record.plane_strides = (stride(0), stride(1), stride(2), stride(3))
    audio?.store(into: &record)
    return record
  }

  /// A format from another process's record; nil if the record is invalid.
  package init?(_ record: fb_format) {
    guard let kind = Kind(rawValue: record.kind),
      record.plane_count <= UInt32(FB_MAXIMUM_PLANES),
      record.byte_count <= UInt64(Self.maximumByteCount)
    else { return nil }
    let (offsets, strides) = (record.plane_offsets, record.plane_strides)
    let planes = [
      Plane(offset: Int(offsets.0), stride: Int(strides.0)),
      Plane(offset: Int(offsets.1), stride: Int(strides.1)),
      Plane(offset: Int(offsets.2), stride: Int(strides.2)),
      Plane(offset: Int(offsets.3), stride: Int(strides.3)),
    ].prefix(Int(record.plane_count))
    do throws(FrameFormatError) {
      try self.init(
        kind: kind, fourcc: FourCC(rawValue: record.fourcc), width: Int(record.width),
        height: Int(record.height), planes: Array(planes), byteCount: Int(record.byte_count),
        frameRate: FrameRate(Int(record.rate_numerator), Int(record.rate_denominator)),
        colorSpace: ColorSpace(packed: record.color_space), audio: AudioFormat(record))
    } catch { return nil }
  }
}

extension AudioFormat {
  func store(into record: inout fb_format) {
    record.sample_format = sampleFormat.rawValue
    record.sample_rate = UInt32(sampleRate)
    record.channel_count = UInt32(channelCount)
    record.channel_mask = channelMask.rawValue
    record.is_interleaved = isInterleaved ? 1 : 0
  }

  /// Nil without sound, when all fields are 0.
  package init?(_ record: fb_format) throws(FrameFormatError) {
    if record.sample_format == 0, record.sample_rate == 0, record.channel_count == 0 { return nil }
    guard let sampleFormat = SampleFormat(rawValue: record.sample_format) else {
      throw .wrongSound(
        sampleRate: Int(record.sample_rate), channelCount: Int(record.channel_count))
    }
    try self.init(
      sampleFormat, sampleRate: Int(record.sample_rate), channelCount: Int(record.channel_count),
      channelMask: ChannelMask(rawValue: record.channel_mask),
      isInterleaved: record.is_interleaved != 0)
  }
}
