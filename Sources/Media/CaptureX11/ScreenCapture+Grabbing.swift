#if Media
  import CXCB
  import FrameBus

  /// Grabs: the server writes the target's pixels into a slot, or into memory from which they are
  /// copied.
  extension ScreenCapture {
    /// What the cursor left and what it covers now have changed.
    private mutating func followCursor() throws(ScreenError) {
      guard options.drawsCursor else { return }
      let before = cursor.bounds
      let isNew = try cursor.refresh()
      cursor.place()
      guard isNew || cursor.bounds != before else { return }
      changes.insert(before)
      changes.insert(cursor.bounds)
    }

    /// - Returns: false if the target became another, or a protected window may be anywhere: what
    ///   was written, if anything, is not to be published.
    mutating func grab(into loan: inout FrameLoan) throws(ScreenError) -> Bool {
      for _ in 0..<Self.grabAttempts {
        if try attemptGrab(into: &loan) { return true }
        if needsCheck || isUndecided { return false }
      }
      // Somebody moves them without rest. For a moment nobody can.
      let connection = screen.connection
      try connection.grabServer()
      defer { connection.ungrabServer() }
      try readEvents(readsSocket: false)
      if needsCheck { return false }
      return try attemptGrab(into: &loan, upTo: Self.longestSearch)
    }

    /// Attempts while other clients go on.
    private static let grabAttempts = 2
    /// The most windows that are looked at while no other client can go on. The search for more
    /// continues with the next frame.
    private static let longestSearch = 512

    private mutating func attemptGrab(
      into loan: inout FrameLoan, upTo limit: Int = .max
    ) throws(ScreenError) -> Bool {
      // What changed before this attempt is in its picture.
      changes.formUnion(try takeChangesMeanwhile())
      try refreshProtection(upTo: limit)
      if isUndecided || !protection.isCurrent { return false }
      return try grabOnce(into: &loan)
    }

    /// Whether the target stayed as it was until the grab's answer, and no protected window moved.
    /// What the server told before the answer was read with it.
    mutating func isGrabTrue() throws(ScreenError) -> Bool {
      try readEvents(readsSocket: false)
      followSetting()
      return protection.isCurrent && !needsCheck && !isUndecided
    }

    /// Subscribers map the pool, so pixels that they must not see may never be in it. Nor does
    /// a picture fit that is yet to be made smaller.
    var backend: ScreenBackend {
      let hides = protection.isOn || !protection.areas.isEmpty || extent.divisor > 1
      return screen.backend == .shm && hides ? .isolated : screen.backend
    }

    /// What lies in the captured area of windows that must not be seen.
    var visibleProtected: [PixelRect] {
      protection.areas.map { $0.intersection(area) }.filter { !$0.isEmpty }
    }

    /// Where a grab of a rectangle of the target must not be seen, in its own pixels.
    private func blankAreas(in rect: PixelRect) -> [PixelRect] {
      protection.areas.map { $0.intersection(rect).moved(by: -rect.x, -rect.y) }
    }

    private mutating func grabOnce(into loan: inout FrameLoan) throws(ScreenError) -> Bool {
      try followCursor()
      if extent.divisor > 1 { return try grabReduced(into: &loan) }
      guard backend == .shm else {
        return unsafe try grab(area) { pixels in unsafe loan.fill(from: pixels) }
      }
      guard let segment = pools.segment(of: loan.poolGeneration) else {
        preconditionFailure("pool \(loan.poolGeneration) was never attached")
      }
      privateSegment = nil
      try grab(area, into: segment, offset: UInt32(loan.offsetInPool))
      guard try isGrabTrue() else { return false }
      var bytes = loan.bytes
      cursor.draw(into: &bytes, area: area)
      return true
    }

    /// Grabs what has changed since the last frame at once, and makes that alone smaller.
    private mutating func grabReduced(into loan: inout FrameLoan) throws(ScreenError) -> Bool {
      var picture = reduced.take() ?? ReducedPicture(of: area, by: extent.divisor)
      let pieces = picture.pieces(of: changes.clipped(to: area))
      var isGrabbed = true
      if let first = pieces.first {
        let bounds = pieces.dropFirst().reduce(first) { $0.spanning($1) }
        isGrabbed = unsafe try grab(bounds.moved(by: area.x, area.y)) { pixels in
          for piece in pieces { unsafe picture.update(piece, from: pixels, of: bounds) }
        }
      }
      if isGrabbed { picture.copy(to: &loan) }
      reduced = picture
      return isGrabbed
    }

    /// Lets the server write the pixels of a rectangle to an offset of a segment, and waits until
    /// it has.
    private mutating func grab(
      _ rect: PixelRect, into segment: xcb_shm_seg_t, offset: UInt32
    ) throws(ScreenError) {
      let sequence = target.requestPixels(rect, into: segment, at: offset)
      changesMeanwhile = takeDamage()
      let _: XReply<xcb_shm_get_image_reply_t> = try screen.connection.reply(
        to: "a grab of the screen (ShmGetImage)", sequence)
    }

    /// Grabs a rectangle into memory that no subscriber sees, and passes it on: without what must
    /// not be seen, and with the cursor.
    /// - Returns: as ``grab(into:)``; if false, nothing is passed on.
    private mutating func grab(
      _ rect: PixelRect, _ use: (UnsafeRawBufferPointer) -> Void
    ) throws(ScreenError) -> Bool {
      if backend == .socket { return unsafe try grabOverSocket(rect, use) }
      if privateSegment == nil {
        let byteCount = area.width * area.height * 4
        privateSegment = try PrivateSegment(screen.connection, byteCount: byteCount)
      }
      guard let segment = privateSegment?.segment, let pixels = unsafe privateSegment?.pixels
      else { return false }
      try grab(rect, into: segment, offset: 0)
      guard try isGrabTrue() else { return false }
      // SAFETY: nothing ends the private segment meanwhile.
      unsafe pass(pixels, of: rect, to: use)
      return true
    }

    private mutating func grabOverSocket(
      _ rect: PixelRect, _ use: (UnsafeRawBufferPointer) -> Void
    ) throws(ScreenError) -> Bool {
      let sequence = target.requestPixels(rect)
      changesMeanwhile = takeDamage()
      let reply: XReply<xcb_get_image_reply_t> = try screen.connection.reply(
        to: "a grab of the screen (GetImage)", sequence)
      guard try isGrabTrue() else { return false }
      // SAFETY: the pixels lie in the reply, which this process alone has, and which lives as long.
      let pixels = unsafe UnsafeMutableRawBufferPointer(
        mutating: UnsafeRawBufferPointer(
          try reply.list(
            xcb_get_image_data(reply.pointer), count: rect.width * rect.height * 4)))
      unsafe pass(pixels, of: rect, to: use)
      return true
    }

    /// SAFETY: the caller keeps the pixels during this call.
    private mutating func pass(
      _ pixels: UnsafeMutableRawBufferPointer, of rect: PixelRect,
      to use: (UnsafeRawBufferPointer) -> Void
    ) {
      let pixels = unsafe UnsafeMutableRawBufferPointer(
        rebasing: pixels[..<(rect.width * rect.height * 4)])
      unsafe pixels.blank(blankAreas(in: rect), stride: rect.width * 4)
      var bytes = unsafe MutableRawSpan(_unsafeBytes: pixels)
      cursor.draw(into: &bytes, area: rect)
      unsafe use(UnsafeRawBufferPointer(pixels))
    }
  }
#endif
