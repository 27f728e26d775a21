#if Media
  import CWayland
  import Capture
  import FrameBus
  import Platform

  /// One run of a capture: paced, idle when nothing changes, following new sizes, and
  /// waiting for a compositor that went away.
  struct WaylandCapture: ~Copyable {
    private var link: WaylandLink?
    private let pools: WaylandPools
    private var options: WaylandOptions
    private let session: CaptureSession
    private var extent: CaptureExtent
    private var pacer: FramePacer
    /// The next frame is published even if the output has not changed.
    private var owesFrame = true
    private var knownJoins: UInt64 = 0
    private var refreshHz = 60.0
    private var isPaused = false
    /// Frames that the compositor did not deliver, one after another.
    private var failureCount = 0
    /// After more, subscribers receive the reason why there are no frames.
    private static let maximumFailures = 10
    /// How long to wait for an output that cannot be captured, or a compositor that is not there.
    private static let retryInterval = Duration.milliseconds(500)
    /// How long a subscriber that comes or goes may go unnoticed.
    private static let demandInterval = Duration.milliseconds(100)

    init(
      _ link: WaylandLink?, pools: WaylandPools, options: WaylandOptions, session: CaptureSession
    ) {
      self.link = link
      self.pools = pools
      self.options = options
      // The same output again, whatever others there are then.
      if let output = link?.output { self.options.target = .output(output.name) }
      self.session = session
      extent = CaptureExtent(rate: options.rate)
      pacer = FramePacer(rate: options.rate, startNs: monotonicNowNs())
    }

    mutating func run(_ publisher: inout Publisher) throws(WaylandError) {
      while waitForSubscriber(of: publisher) {
        do throws(WaylandError) {
          var current = try self.current()
          defer { link = current }
          refreshHz = current.refreshHz
          guard try waitUntilDue(current.compositor, publisher) else { continue }
          try captureFrame(by: &current, &publisher)
        } catch {
          if case .windowClosed = error { return }
          guard isPassing(error), !session.isOver else { throw error }
          lose(&publisher, error)
        }
      }
    }

    /// No window outlives its compositor.
    private func isPassing(_ error: WaylandError) -> Bool {
      if case .window = options.target, case .unreachable = error { return false }
      return error.isPassing
    }

    /// Blocks, without any timer, while nobody subscribes. False: the run is over.
    private mutating func waitForSubscriber(of publisher: borrowing Publisher) -> Bool {
      if publisher.subscriberCount == 0 {
        link?.compositor.rest()
        guard session.waitForSubscriber(of: publisher) else { return false }
        pacer.restart(atNs: monotonicNowNs())
        extent.restart()
      }
      // Somebody new gets a frame although nothing changes.
      if publisher.joinCount != knownJoins {
        knownJoins = publisher.joinCount
        owesFrame = true
      }
      session.noteSubscribers(publisher.subscriberCount)
      return !session.isOver
    }

    // MARK: The compositor

    /// The compositor, connected again if it went away.
    private func current() throws(WaylandError) -> WaylandLink {
      if let link { return link }
      let new = try WaylandLink(options, stop: session.stop)
      pools.begin(new.compositor)
      return new
    }

    /// Gives up the compositor, and waits a moment.
    private mutating func lose(_ publisher: inout Publisher, _ error: WaylandError) {
      link = nil
      pools.begin(nil)
      pause(&publisher, "\(error)")
      owesFrame = true
      _ = session.sleep(until: .after(Self.retryInterval))
    }

    private mutating func pause(_ publisher: inout Publisher, _ reason: String) {
      if isPaused { return }
      isPaused = true
      publisher.pause(.unavailable)
      session.noticed?("no frame is published until this is mended: \(reason)")
    }

    private mutating func resume(_ publisher: inout Publisher) {
      if !isPaused { return }
      isPaused = false
      publisher.resume()
      session.noticed?("frames come again")
      owesFrame = true
    }

    // MARK: Pace

    /// - Returns: false if nobody subscribes, or the run is over.
    private mutating func waitUntilDue(
      _ compositor: Compositor, _ publisher: borrowing Publisher
    ) throws(WaylandError) -> Bool {
      while true {
        follow(publisher.demand)
        let due = Deadline(monotonicNs: requestNs)
        if session.isOver || publisher.subscriberCount == 0 { return false }
        if due.isPast { return true }
        try compositor.wait(until: pollDeadline(due), stop: session.stop)
      }
    }

    private func pollDeadline(_ deadline: Deadline = .never) -> Deadline {
      min(deadline, .after(Self.demandInterval), session.deadline)
    }

    /// When to ask for the next frame: half a refresh early, because the compositor copies at its
    /// next one; at once if every refresh is wanted.
    private var requestNs: UInt64 {
      let refreshNs = UInt64(1e9 / max(refreshHz, 1))
      // A rate of 60 of an output with 59.94 Hz is all of it.
      if pacer.intervalNs <= refreshNs + refreshNs / 50 { return 0 }
      return pacer.deadlineNs - min(refreshNs / 2, pacer.deadlineNs)
    }

    private mutating func follow(_ demand: Demand?) {
      let before = extent.rate
      // Only the compositor could make smaller pictures.
      extent.follow(demand, of: PixelRect(x: 0, y: 0, width: 1, height: 1), nowNs: monotonicNowNs())
      if extent.rate != before { pacer = FramePacer(rate: extent.rate, startNs: monotonicNowNs()) }
    }

    /// The next frame is due one interval later, even if nothing changed for long before this one.
    private mutating func advance() {
      let nowNs = monotonicNowNs()
      if pacer.deadlineNs + pacer.intervalNs <= nowNs { pacer.restart(atNs: nowNs) }
      pacer.advance(nowNs: nowNs)
    }

    // MARK: Frames

    private mutating func captureFrame(
      by link: inout WaylandLink, _ publisher: inout Publisher
    ) throws(WaylandError) {
      if link.hasChanged {
        // The newest frame may show the change in its former size or orientation.
        link.compositor.endFrame()
        owesFrame = true
      }
      let deadline = min(session.deadline, .after(Compositor.answerLimit))
      guard let layout = try link.layout(isOwed: owesFrame, until: deadline) else {
        return fail(&publisher)
      }
      if layout.format != publisher.format { owesFrame = true }
      do { try publisher.setFormat(layout.format) } catch {
        throw .publishing(.publisher(error))
      }
      resume(&publisher)
      var loan = try loan(from: &publisher)
      var buffer = pools.buffer(for: loan.poolGeneration, at: loan.offsetInPool, layout)
      if buffer == nil {
        // The pool is sealed already: this compositor has not seen it, and never can.
        _ = consume loan
        do { try publisher.renewPool() } catch { throw .publishing(.publisher(error)) }
        loan = try self.loan(from: &publisher)
        buffer = pools.buffer(for: loan.poolGeneration, at: loan.offsetInPool, layout)
      }
      guard let buffer else { throw .refusedMemory(path: link.compositor.path) }
      let isAwaited = owesFrame
      buffer.fill(waitsForDamage: !isAwaited)
      guard try waitForCopy(by: link, publisher, isAwaited: isAwaited) else { return }
      guard link.compositor.stage == WAYLAND_READY else {
        link.compositor.endFrame()
        return fail(&publisher)
      }
      failureCount = 0
      owesFrame = false
      publish(loan, link, isFull: isAwaited)
      // Asked now, so that its layout is known when the next frame is due.
      link.compositor.endFrame()
      if !link.hasChanged { try link.beginFrame(isOwed: false) }
      advance()
    }

    private func loan(from publisher: inout Publisher) throws(WaylandError) -> FrameLoan {
      do { return try publisher.loan() } catch { throw .publishing(.loan(error)) }
    }

    /// Waits until the compositor has written the frame, or failed to. An output that does not
    /// change is waited for as long as nobody new needs a frame.
    /// - Returns: false if the frame was given up.
    private mutating func waitForCopy(
      by link: WaylandLink, _ publisher: borrowing Publisher, isAwaited: Bool
    ) throws(WaylandError) -> Bool {
      let limit = isAwaited ? Deadline.after(Compositor.answerLimit) : .never
      while link.compositor.stage == WAYLAND_COPYING {
        let isAlone = publisher.subscriberCount == 0
        if session.isOver { return false }
        if isAlone || !isAwaited && publisher.joinCount != knownJoins {
          try link.cancelFrame()
          session.countUnchanged()
          return false
        }
        if limit.isPast { throw try silence(of: link) }
        try link.compositor.wait(until: pollDeadline(limit), stop: session.stop)
      }
      return true
    }

    /// Of a window that is hidden, a compositor may deliver nothing, and answers otherwise.
    private func silence(of link: WaylandLink) throws(WaylandError) -> WaylandError {
      if link.output == nil {
        link.compositor.endFrame()
        if try link.compositor.synchronize(stop: session.stop) { return .unavailable(output: nil) }
      }
      return .silent(path: link.compositor.path)
    }

    private mutating func fail(_ publisher: inout Publisher) {
      session.countUnchanged()
      failureCount += 1
      owesFrame = true
      guard failureCount > Self.maximumFailures else { return advance() }
      pause(&publisher, "the compositor delivers none; an output may be off")
      _ = session.sleep(until: .after(Self.retryInterval))
    }

    private func publish(_ loan: consuming FrameLoan, _ link: WaylandLink, isFull: Bool) {
      var loan = loan
      let frame = link.compositor.frame
      let nowNs = monotonicNowNs()
      // The compositor's word, if it can be true.
      let isPlausible = frame.presentedNs <= nowNs && nowNs - frame.presentedNs < 1_000_000_000
      let shownNs = isPlausible ? frame.presentedNs : nowNs
      loan.metadata.ptsNs = Int64(shownNs)
      loan.metadata.capturedAtNs = shownNs
      // Of a region, wlroots 0.15 names the areas on the output, the protocol in the buffer.
      let isUnknown = isFull || options.region != nil
      loan.metadata.damage = isUnknown ? .full : frame.changes(in: loan.format)
      loan.metadata.orientation = link.orientation
      _ = loan.publish()
      session.countFrame()
    }
  }

  extension wayland_frame {
    /// What changed, as far as the compositor says; everything if it does not.
    package func changes(in format: FrameFormat) -> DamageRegion {
      if damageCount == 0 || hasMoreDamage { return .full }
      // SAFETY: the field is an array of that type, which is copied.
      let areas = unsafe withUnsafeBytes(of: damage) { bytes in
        unsafe Array(bytes.bindMemory(to: wayland_area.self).prefix(Int(damageCount)))
      }
      let picture = PixelRect(x: 0, y: 0, width: format.width, height: format.height)
      return DamageRegion(
        areas.map {
          PixelRect(x: Int($0.x), y: Int($0.y), width: Int($0.width), height: Int($0.height))
        }
      ).clipped(to: picture)
    }
  }
#endif
