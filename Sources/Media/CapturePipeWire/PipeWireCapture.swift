#if Media
  import CPipeWire
  import FrameBus
  import Platform

  /// The pictures of one node. Confined to one thread.
  @safe struct PipeWireCapture: ~Copyable {
    enum State { case connecting, ready, lost(String), failed(String) }

    /// SAFETY: lives until deinit, which alone frees it.
    @unsafe private let capture: OpaquePointer
    private let node: UInt32

    /// - Parameter remote: a connection that sees the node; nil for the user's server.
    init(
      node: UInt32, remote: consuming Descriptor?, rate: FrameRate
    ) throws(PortalError) {
      if let why = unsafe fb_pipewire_load() { throw .noLibrary(unsafe String(cString: why)) }
      // It closes the descriptor in any case.
      let capture = unsafe fb_pipewire_capture_new(
        remote.take()?.release() ?? -1, node, UInt32(rate.numerator), UInt32(rate.denominator))
      guard let capture = unsafe capture else {
        throw .pipeWire("it does not answer, or this process has no memory")
      }
      unsafe self.capture = capture
      self.node = node
    }

    deinit { unsafe fb_pipewire_capture_free(capture) }

    /// Readable when `iterate` has something to do.
    var descriptorNumber: Int32 { unsafe fb_pipewire_capture_descriptor(capture) }

    /// Handles what has arrived.
    mutating func iterate() -> State {
      let state = unsafe fb_pipewire_capture_iterate(capture)
      switch state {
      case FB_PIPEWIRE_CONNECTING: return .connecting
      case FB_PIPEWIRE_READY: return .ready
      case FB_PIPEWIRE_NO_NODE: return .lost("node \(node): \(failure)")
      case FB_PIPEWIRE_NO_SERVER: return .lost("PipeWire has ended: \(failure)")
      default: return .failed(failure)
      }
    }

    // SAFETY: the text is copied at once.
    private var failure: String {
      unsafe String(cString: fb_pipewire_capture_failure(capture)).plain
    }

    /// Whether the producer shall make pictures.
    mutating func setActive(_ isActive: Bool) {
      unsafe fb_pipewire_capture_set_active(capture, isActive)
    }

    /// Links the node again, and so has its producer make a picture.
    mutating func restart() { unsafe fb_pipewire_capture_restart(capture) }

    /// The format, if it has changed since the last call.
    mutating func takeFormat() -> fb_pipewire_format? {
      var format = fb_pipewire_format()
      return unsafe fb_pipewire_capture_take_format(capture, &format) ? format : nil
    }

    /// Whether a picture has arrived since the last copy.
    var hasNewPicture: Bool { unsafe fb_pipewire_capture_has_new(capture) }

    /// The newest picture, which may have been copied before.
    var newest: fb_pipewire_picture? {
      var picture = fb_pipewire_picture()
      return unsafe fb_pipewire_capture_newest(capture, &picture) ? picture : nil
    }

    /// Copies the newest picture.
    /// - Returns: false if its memory does not hold what the producer says.
    mutating func copy(to loan: inout FrameLoan) -> Bool {
      var bytes = loan.bytes
      // SAFETY: the call writes at most the given count of bytes, into a slot that is ours.
      return unsafe bytes.withUnsafeMutableBytes {
        guard let start = $0.baseAddress else { return false }
        return unsafe fb_pipewire_capture_copy(capture, start, $0.count)
      }
    }

    /// Pictures that newer ones replaced before they were published.
    var skippedCount: UInt64 { unsafe fb_pipewire_capture_skipped(capture) }
  }

  extension PixelRect {
    init(_ rect: fb_pipewire_rect) {
      self.init(
        x: Int(rect.x), y: Int(rect.y), width: Int(rect.width), height: Int(rect.height))
    }
  }

  extension fb_pipewire_picture {
    /// What has changed since the last copy, in the visible part.
    var changes: DamageRegion {
      if isFullDamage { return .full }
      var all = damage
      // SAFETY: the array has the declared number of rectangles, and the count is at most that.
      let rects = unsafe withUnsafeBytes(of: &all) {
        unsafe Array($0.bindMemory(to: fb_pipewire_rect.self).prefix(Int(damageCount)))
      }
      return DamageRegion(rects.map { PixelRect($0) }).clipped(to: PixelRect(crop))
    }
  }
#endif
