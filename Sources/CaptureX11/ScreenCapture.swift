#if Media
  import CXCB
  import Capture
  import FrameBus
  import Platform

  /// One run of a screen's capture: paced, idle when nothing changes, following resizes.
  struct ScreenCapture: ~Copyable {
    private let screen: RootScreen
    private let pools: SharedPools
    private let options: ScreenOptions
    private let session: CaptureSession
    private let damage: ScreenDamage
    private var cursor: ScreenCursor
    private var privateSegment: PrivateSegment?
    private var area: PixelRect
    private var pacer: FramePacer
    private var isDamaged = true
    /// What may differ between the newest published frame and the next.
    private var changes = DamageRegion.none
    /// Asked for right after the grab, as another client may have drawn between the request before
    /// it and the grab itself.
    private var changesMeanwhile: ScreenDamage.Pending?
    private var isResized = false
    /// The next frame is published even if the screen has not changed.
    private var owesFrame = true
    private var knownJoins: UInt64 = 0
    private var isIdle = true

    init(
      of screen: RootScreen, area: PixelRect, pools: SharedPools, options: ScreenOptions,
      session: CaptureSession
    ) {
      self.screen = screen
      self.area = area
      self.pools = pools
      self.options = options
      self.session = session
      damage = ScreenDamage(of: screen)
      cursor = ScreenCursor(of: screen)
      pacer = FramePacer(rate: options.rate, startNs: monotonicNowNs())
    }

    mutating func run(_ publisher: inout Publisher) throws(ScreenError) {
      while !session.isOver {
        guard waitForSubscribers(of: publisher) else { return }
        guard session.sleep(until: Deadline(monotonicNs: pacer.deadlineNs)) else { return }
        try readEvents()
        if isResized { try followResize(&publisher) }
        let isCursorMoved = options.drawsCursor ? try cursor.moveIfNeeded() : false
        if isDamaged || owesFrame || isCursorMoved {
          try publishFrame(with: &publisher)
        } else {
          session.countUnchanged()
        }
        let missedBefore = pacer.missedCount
        pacer.advance(nowNs: monotonicNowNs())
        session.countMissedDeadlines(pacer.missedCount - missedBefore)
      }
    }

    /// Blocks, without any timer, while nobody subscribes. False: the run is over.
    private mutating func waitForSubscribers(of publisher: borrowing Publisher) -> Bool {
      if publisher.subscriberCount == 0 || isIdle {
        // Nobody reads events now: ask for none that could pile up. The damage sends only one.
        if options.drawsCursor { cursor.watch(false) }
        isIdle = true
        guard session.waitForSubscriber(of: publisher) else { return false }
        isIdle = false
        if options.drawsCursor {
          cursor.watch(true)
          cursor.looksChanged()
        }
        pacer.restart(atNs: monotonicNowNs())
      }
      // Somebody new gets a frame although nothing changes.
      if publisher.joinCount != knownJoins {
        knownJoins = publisher.joinCount
        owesFrame = true
      }
      session.noteSubscribers(publisher.subscriberCount)
      return true
    }

    private mutating func readEvents() throws(ScreenError) {
      var isDamaged = isDamaged
      var isResized = isResized
      var isCursorNew = false
      screen.connection.drainEvents { type in
        if type == screen.damageEvent { isDamaged = true }
        if type == screen.resizeEvent { isResized = true }
        if type == screen.cursorEvent { isCursorNew = true }
      }
      self.isDamaged = isDamaged
      self.isResized = isResized
      if isCursorNew { cursor.looksChanged() }
      if screen.connection.isBroken { throw .serverGone(display: screen.connection.display) }
    }

    /// Adopts the screen's new size, with a new pool if the slots are too small for it.
    private mutating func followResize(_ publisher: inout Publisher) throws(ScreenError) {
      isResized = false
      let newArea = try ScreenSource.area(of: screen, options)
      if newArea == area { return }
      let format = try ScreenSource.format(of: newArea, options)
      do { try publisher.setFormat(format) } catch {
        throw .publishing(.publisher(error))
      }
      area = newArea
      privateSegment = nil
      owesFrame = true
      changes = .full
    }

    private mutating func publishFrame(with publisher: inout Publisher) throws(ScreenError) {
      var loan: FrameLoan
      do { loan = try publisher.loan() } catch { throw .publishing(.loan(error)) }
      let nowNs = monotonicNowNs()
      let changesBefore = damage.take()
      let outcome = Result { () throws(ScreenError) in try grab(into: &loan) }
      changes.formUnion(try damage.region(of: changesBefore))
      // The picture may contain it or not: it counts for this frame and for the next.
      let meanwhile = try takeChangesMeanwhile()
      changes.formUnion(meanwhile)
      isDamaged = !meanwhile.isEmpty
      if case .failure(let error) = outcome {
        // BadMatch: the screen shrank before its event arrived.
        guard case .refused(_, 8) = error, try ScreenSource.area(of: screen, options) != area
        else { throw error }
        isResized = true
        return
      }
      if options.drawsCursor { try drawCursor(into: &loan) }
      let visible = changes.clipped(to: area)
      changes = meanwhile
      // What changed lies outside the captured region: the loan goes back unused.
      if visible.isEmpty, !owesFrame { return session.countUnchanged() }
      loan.metadata.ptsNs = Int64(nowNs)
      loan.metadata.capturedAtNs = nowNs
      loan.metadata.damage = visible
      _ = loan.publish(byteCount: area.width * area.height * 4)
      owesFrame = false
      session.countFrame(isCopy: options.backend != .shm)
    }

    private mutating func takeChangesMeanwhile() throws(ScreenError) -> DamageRegion {
      guard let pending = changesMeanwhile.take() else { return .none }
      return try damage.region(of: pending)
    }

    private mutating func drawCursor(into loan: inout FrameLoan) throws(ScreenError) {
      let before = cursor.drawnBounds
      let looksNew = try cursor.refresh()
      var bytes = loan.bytes
      cursor.draw(into: &bytes, area: area, stride: area.width * 4)
      guard looksNew || cursor.drawnBounds != before else { return }
      changes.insert(before)
      changes.insert(cursor.drawnBounds)
    }

    private mutating func grab(into loan: inout FrameLoan) throws(ScreenError) {
      switch options.backend {
      case .shm:
        guard let segment = pools.segment(of: loan.poolGeneration) else {
          preconditionFailure("pool \(loan.poolGeneration) was never attached")
        }
        try grab(into: segment, offset: UInt32(loan.offsetInPool))
      case .isolated:
        let byteCount = area.width * area.height * 4
        if privateSegment == nil {
          privateSegment = try PrivateSegment(screen.connection, byteCount: byteCount)
        }
        guard let segment = privateSegment?.segment else { return }
        try grab(into: segment, offset: 0)
        privateSegment?.copy(to: &loan)
      case .socket: try grabOverSocket(into: &loan)
      }
    }

    /// Lets the server write the pixels to an offset of a segment, and waits until it has.
    private mutating func grab(
      into segment: xcb_shm_seg_t, offset: UInt32
    ) throws(ScreenError) {
      let pointer = unsafe screen.connection.pointer
      // SAFETY: the server checks that the picture fits into the segment it mapped.
      let cookie = unsafe xcb_shm_get_image(
        pointer, screen.root, Int16(area.x), Int16(area.y), UInt16(area.width),
        UInt16(area.height), .max, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), segment, offset)
      changesMeanwhile = damage.take()
      _ = try screen.connection.reply(to: "a grab of the screen (ShmGetImage)") {
        unsafe xcb_shm_get_image_reply($0, cookie, $1)
      }
    }

    private mutating func grabOverSocket(into loan: inout FrameLoan) throws(ScreenError) {
      let pointer = unsafe screen.connection.pointer
      let cookie = unsafe xcb_get_image(
        pointer, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), screen.root, Int16(area.x),
        Int16(area.y), UInt16(area.width), UInt16(area.height), .max)
      changesMeanwhile = damage.take()
      let reply = try screen.connection.reply(to: "a grab of the screen (GetImage)") {
        unsafe xcb_get_image_reply($0, cookie, $1)
      }
      // SAFETY: the data lie in the reply, as long as libxcb says.
      let pixels = unsafe UnsafeRawBufferPointer(
        start: xcb_get_image_data(reply.pointer),
        count: Int(xcb_get_image_data_length(reply.pointer)))
      unsafe loan.fill(from: pixels.prefix(area.width * area.height * 4))
    }
  }

  extension FrameLoan {
    /// Copies pixels to the start of the slot. Traps if they do not fit.
    mutating func fill(from pixels: Slice<UnsafeRawBufferPointer>) {
      var bytes = self.bytes
      // SAFETY: copyMemory checks that the source fits into the slot.
      unsafe bytes.withUnsafeMutableBytes {
        unsafe $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: pixels))
      }
    }
  }
#endif
