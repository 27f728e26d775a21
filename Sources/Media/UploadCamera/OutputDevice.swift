#if Media
  import CGStreamer
  import CVideo4Linux
  import FrameBus
  import Platform
  import Upload

  /// An open Video4Linux device that takes pictures in I420 by write(2), such as one of
  /// v4l2loopback. What its driver says is checked. Used by one thread.
  struct OutputDevice: ~Copyable {
    private let path: String
    private let descriptor: Descriptor
    private let port: video_port
    /// Of the pictures that it takes; nothing before `setUp`.
    private(set) var width = 0
    private(set) var height = 0
    private var stride = 0
    private let isLoopback: Bool
    /// What each write passes.
    private(set) var byteCount = 0

    private static let encoding = FourCC.yuv420
    /// Larger pictures are a mistake of the driver.
    private static let maximumByteCount = 1 << 28
    private static let package = "`modprobe v4l2loopback exclusive_caps=1` (v4l2loopback-dkms)"

    init(_ path: String) throws(DestinationError) {
      let opened: Descriptor
      do { opened = try Descriptor(device: path) } catch {
        throw Self.failure(error, path)
      }
      var device = video_device()
      let result = unsafe video_query(opened.number, &device)
      guard result == 0 else { throw Self.refusal(path, "is not a Video4Linux device") }
      guard device.outputs else {
        throw Self.refusal(path, "takes no pictures: it is a camera, or another program writes it")
      }
      guard device.writes else { throw Self.refusal(path, "takes no pictures by write(2)") }
      self.path = path
      port = video_port(
        device: opened.number, isOutput: true, isMultiplanar: device.outputsInPlanes)
      descriptor = opened
      // SAFETY: the text is read at once.
      isLoopback = unsafe withUnsafeBytes(of: device.driver) {
        unsafe $0.starts(with: "v4l2 loopback".utf8)
      }
    }

    private static func refusal(_ path: String, _ what: String) -> DestinationError {
      .peer(
        reason: "\(path.plain) \(what); \(package) adds a device that does", isMisuse: false)
    }

    private static func failure(_ error: SystemError, _ path: String) -> DestinationError {
      if error.isOtherDevice { return refusal(path, "is not a Video4Linux device") }
      if error.isBusy {
        return .peer(
          reason: "\(path.plain) is in use: another program writes it; `fuser -v \(path.plain)`"
            + " names it", isMisuse: false)
      }
      if error.isAccessRefusal {
        return .peer(
          reason: "\(error): such devices belong to the group video; `sudo usermod -aG video USER`,"
            + " then log in again", isMisuse: false)
      }
      if error.isAbsence {
        return refusal(path, "does not exist")
      }
      if error.isDeviceGone {
        return .connectionLost(output: "camera:\(path.plain)", reason: "\(error)")
      }
      return .peer(reason: "\(error)", isMisuse: false)
    }

    /// Asks for a size, which the driver may change: readers of v4l2loopback keep theirs.
    mutating func setUp(
      width: Int, height: Int, rate: FrameRate
    ) throws(DestinationError) {
      var format = video_format()
      format.encoding = Self.encoding.rawValue
      (format.width, format.height) = (UInt32(width), UInt32(height))
      // SAFETY: the call uses the structure only while it lasts.
      let result = unsafe video_set_format(port, &format)
      // v4l2loopback has EINVAL for a format that its readers do not let it change.
      let error = SystemError(code: -result, operation: "VIDIOC_S_FMT", path: path)
      if result != 0, !error.isRefusedArgument { throw Self.failure(error, path) }
      guard result == 0, format.encoding == Self.encoding.rawValue else {
        let kept = FourCC(rawValue: format.encoding)
        throw .peer(
          reason: "\(path.plain) takes no pictures in I420 (YU12)"
            + (result == 0 ? ", but “\("\(kept)".plain)”" : "")
            + ": end the programs that read it, or let v4l2loopback-ctl choose YU12",
          isMisuse: false)
      }
      try adopt(format)
      // Without it, v4l2loopback 0.12 takes no further writer after one that ends.
      if isLoopback { _ = video_start(port) }
      guard rate.numerator > 0 else { return }
      // A driver may have no rate.
      var (numerator, denominator) = (UInt32(rate.denominator), UInt32(rate.numerator))
      // SAFETY: the call writes the numbers only while it lasts.
      _ = unsafe video_set_interval(port, &numerator, &denominator)
    }

    private mutating func adopt(_ format: video_format) throws(DestinationError) {
      let (width, height) = (Int(format.width), Int(format.height))
      let stride = format.stride == 0 ? width : Int(format.stride)
      let total = stride * height + stride / 2 * (height / 2) * 2
      guard (2...16384).contains(width), (2...16384).contains(height), width.isMultiple(of: 2),
        height.isMultiple(of: 2), format.planeCount == 1, (width...1 << 16).contains(stride),
        stride.isMultiple(of: 2), (total...Self.maximumByteCount).contains(Int(format.byteCount))
      else {
        throw .peer(
          reason: "the driver of \(path.plain) says what cannot be (\(width)×\(height) pixels, rows"
            + " of \(stride) bytes, \(format.byteCount) bytes): try another size of the stream",
          isMisuse: false)
      }
      (self.width, self.height, self.stride) = (width, height, stride)
      // Readers of v4l2loopback get what was written; its own size has bytes behind the picture.
      byteCount = isLoopback ? total : Int(format.byteCount)
    }

    /// The planes of a picture in memory of `byteCount` bytes.
    @unsafe func planes(at start: UnsafeMutablePointer<UInt8>) -> fb_i420_picture {
      var picture = fb_i420_picture()
      let chroma = stride / 2 * (height / 2)
      // SAFETY: the planes end within `byteCount`, as `adopt` has checked.
      unsafe picture.plane.0 = start
      unsafe picture.plane.1 = start + stride * height
      unsafe picture.plane.2 = start + stride * height + chroma
      picture.stride = (UInt32(stride), UInt32(stride / 2), UInt32(stride / 2))
      (picture.width, picture.height) = (UInt32(width), UInt32(height))
      return picture
    }

    /// Writes a picture.
    /// - Returns: false if the driver has no room for it now.
    borrowing func write(_ bytes: RawSpan) throws(DestinationError) -> Bool {
      // SAFETY: the driver reads the bytes only during the call.
      let result = unsafe bytes.withUnsafeBytes {
        unsafe video_write(port, $0.baseAddress, $0.count)
      }
      if result == Int64(bytes.byteCount) { return true }
      if result >= 0 {
        throw .connectionLost(
          output: "camera:\(path.plain)",
          reason: "it took \(result) of \(bytes.byteCount) bytes of a picture")
      }
      let error = SystemError(
        code: Int32(clamping: -result), operation: "write", path: path)
      if error.isNothingYet { return false }
      throw Self.failure(error, path)
    }
  }
#endif
