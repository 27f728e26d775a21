#if Media
  import CGStreamer
  import FrameBus
  import Platform
  import Upload

  /// Writes the pictures into a Video4Linux device. It has the size of the first picture; others
  /// are scaled, with black beside them, because readers of a device keep the size that they began
  /// with.
  @safe final class DeviceDestination: Destination {
    let output: String
    let heldFrames = 1
    /// A reader that begins while the screen stands still gets a picture within a second.
    let wantsRepeatedFrames = true
    private(set) var byteCount: UInt64 = 0
    private(set) var lostFrames = 0

    private let path: String
    private var device: OutputDevice?
    /// A picture as the device takes it.
    private var written: [UInt8] = []
    /// One of another size, before it is scaled.
    private var unscaled: [UInt8] = []

    init(_ path: String) {
      self.path = path
      output = "camera:\(path)"
    }

    /// Opens and closes the device, which it takes from other programs with the first picture.
    func prepare() throws(DestinationError) { _ = try OutputDevice(path) }

    func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool { true }

    func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      let picture = try CameraPicture(frame.lease)
      if device == nil { try open(picture, rate: frame.lease.format.frameRate) }
      guard convert(picture, of: frame) else {
        throw .unusableRows(frame.lease.format.planes[0].stride)
      }
      // SAFETY: bytes have no padding.
      guard try device?.write(unsafe written.span.bytes) == true else {
        lostFrames += 1
        return
      }
      byteCount += UInt64(written.count)
    }

    private func open(_ picture: CameraPicture, rate: FrameRate) throws(DestinationError) {
      var opened = try OutputDevice(path)
      // Chroma has half the width and height.
      try opened.setUp(
        width: max(2, Int(picture.format.width) / 2 * 2),
        height: max(2, Int(picture.format.height) / 2 * 2), rate: rate)
      written = Array(repeating: 0, count: opened.byteCount)
      device = consume opened
    }

    /// - Returns: false for rows that libyuv does not take.
    private func convert(_ picture: CameraPicture, of frame: HeldFrame) -> Bool {
      // SAFETY: the planes lie inside the two arrays, and are used only within the closures.
      if unscaled.count != picture.byteCount {
        unscaled = Array(repeating: 0, count: picture.byteCount)
      }
      return unsafe written.withUnsafeMutableBufferPointer { written in
        guard let start = written.baseAddress, var target = unsafe device?.planes(at: start) else {
          return false
        }
        if picture.format.width == target.width, picture.format.height == target.height {
          return unsafe picture.convert(frame.lease, to: target)
        }
        return unsafe unscaled.withUnsafeMutableBufferPointer { unscaled in
          guard let start = unscaled.baseAddress else { return false }
          var source = unsafe picture.planes(at: start)
          return unsafe picture.convert(frame.lease, to: source) && fb_i420_fit(&source, &target)
        }
      }
    }

    private func close() {
      device = nil
      (written, unscaled) = ([], [])
    }

    func finish() throws(DestinationError) { close() }
    func abandon() { close() }
  }
#endif
