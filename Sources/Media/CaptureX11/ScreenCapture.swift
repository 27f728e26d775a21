#if Media
  import CXCB
  import Capture
  import FrameBus
  import Platform

  /// One run of a screen's or window's capture: paced, idle when nothing changes, following
  /// resizes.
  struct ScreenCapture: ~Copyable {
    let screen: RootScreen
    let target: CaptureTarget
    let pools: SharedPools
    let options: ScreenOptions
    private let session: CaptureSession
    private let damage: ScreenDamage
    var cursor: ScreenCursor
    private var focus: ScreenFocus
    private var rules: FollowedProtection
    var protection: ProtectedWindows
    var privateSegment: PrivateSegment?
    /// What is published while a smaller picture suffices.
    var reduced: ReducedPicture?
    var area: PixelRect
    var extent: CaptureExtent
    private var pacer: FramePacer
    private var isDamaged = true
    /// What may differ between the newest published frame and the next.
    var changes = DamageRegion.none
    /// Asked for right after the grab, as another client may have drawn between the request before
    /// it and the grab itself.
    var changesMeanwhile: ScreenDamage.Pending?
    private var presence = CaptureTarget.Presence.shown
    /// It was shown since the last check, and may have been hidden only for a moment before.
    private var isNewlyShown = false
    private var transition = ScreenTransition()
    /// Why subscribers receive no frames, as far as they were told.
    private var pauseReason: PauseReason?
    /// Its size or presence may be another now.
    var needsCheck = true
    /// The next frame is published even if the screen has not changed.
    private var owesFrame = true
    private var knownJoins: UInt64 = 0
    /// Grabs that the server refused, one after another.
    private var refusalCount = 0
    private static let maximumRefusalCount = 100
    /// Grabs in which a protected window may have been anywhere, one after another.
    private var failedGrabCount = 0
    /// After more, subscribers receive the reason why there are no frames.
    private static let maximumFailedGrabs = 10
    private var isIdle = true

    init(
      of target: CaptureTarget, area: PixelRect, pools: SharedPools, options: ScreenOptions,
      rules: FollowedProtection, session: CaptureSession
    ) throws(ScreenError) {
      let focus = try ScreenFocus(on: target)
      let protection = try ProtectedWindows(on: target, rules.rule)
      screen = target.screen
      self.target = target
      self.area = area
      self.pools = pools
      self.options = options
      self.session = session
      damage = ScreenDamage(of: target)
      cursor = ScreenCursor(over: target)
      self.focus = focus
      extent = CaptureExtent(rate: options.rate)
      pacer = FramePacer(rate: options.rate, startNs: monotonicNowNs())
      self.rules = rules
      self.protection = protection
    }

    mutating func run(_ publisher: inout Publisher) throws(ScreenError) {
      while !session.isOver {
        guard waitForSubscribers(of: publisher) else { return }
        guard try waitUntilDue(&publisher) else { return }
        try readEvents()
        if needsCheck { try check(&publisher) }
        try protection.refreshBeside()
        if presence == .gone { return }
        if transition.isActive { try followTransition() }
        try followUnrest()
        followSetting()
        tellWhetherPaused(&publisher)
        if focus.isStale {
          try refreshProtection()
          try focus.refresh(except: protection, session.tellFront)
        }
        if pauseReason == nil, try isFrameDue() {
          try publishFrame(with: &publisher)
        } else {
          session.countUnchanged()
        }
        let missedBefore = pacer.missedCount
        pacer.advance(nowNs: monotonicNowNs())
        session.countMissedDeadlines(pacer.missedCount - missedBefore)
      }
    }

    /// Waits until a frame may be due. A window is looked at as soon as it is shown or gets another
    /// size, because only what is drawn after that look is surely its program's.
    /// - Returns: false if the run is over.
    private mutating func waitUntilDue(_ publisher: inout Publisher) throws(ScreenError) -> Bool {
      repeat {
        let deadline = min(
          Deadline(monotonicNs: pacer.deadlineNs), .after(CaptureExtent.demandInterval))
        var looks = target.isWindow ? Self.earlyLooks : 0
        while looks > 0, screen.connection.waitForEvents(until: deadline, session.stop) {
          looks -= 1
          try readEvents()
          if needsCheck { try check(&publisher) }
        }
        guard session.sleep(until: deadline) else { return false }
        try follow(publisher.demand, &publisher)
      } while !Deadline(monotonicNs: pacer.deadlineNs).isPast
      return true
    }

    /// Publishes larger pictures and more frames as soon as a subscriber needs them, and less once
    /// none has needed so much for a while.
    private mutating func follow(
      _ demand: Demand?, _ publisher: inout Publisher
    ) throws(ScreenError) {
      let before = extent
      extent.follow(demand, of: area, nowNs: monotonicNowNs())
      if extent.rate != before.rate {
        pacer = FramePacer(rate: extent.rate, startNs: monotonicNowNs())
      }
      if extent.divisor != before.divisor { try setFormat(of: area, &publisher) }
    }

    private mutating func setFormat(
      of area: PixelRect, _ publisher: inout Publisher
    ) throws(ScreenError) {
      let format = try ScreenSource.format(of: extent.picture(of: area), options)
      do { try publisher.setFormat(format) } catch {
        throw .publishing(.publisher(error))
      }
      reduced = nil
      owesFrame = true
      changes = .full
    }

    /// Before each frame: other clients may cause events without rest.
    private static let earlyLooks = 4

    private mutating func isFrameDue() throws(ScreenError) -> Bool {
      let isCursorMoved = options.drawsCursor ? try cursor.moveIfNeeded() : false
      return isDamaged || owesFrame || isCursorMoved || !protection.isCurrent
        || protection.isOutdated
    }

    /// Protects the windows that the group's setting names now.
    mutating func followSetting() {
      let former = rules.failure
      if rules.refresh() {
        protection.follow(rules.rule)
        focus.markStale()
      }
      if let failure = rules.failure, failure != former {
        session.noticed?("no frame is published until this is mended: \(failure)")
      }
    }

    /// Whether nobody can tell at the moment where a protected window may be seen.
    var isUndecided: Bool { protection.isUndecided || rules.failure != nil }

    mutating func refreshProtection(upTo limit: Int = .max) throws(ScreenError) {
      guard try protection.refresh(upTo: limit) else { return }
      changes = .full
      owesFrame = true
    }

    /// Blocks, without any timer, while nobody subscribes. False: the run is over.
    private mutating func waitForSubscribers(of publisher: borrowing Publisher) -> Bool {
      if publisher.subscriberCount == 0 || isIdle {
        // Nobody reads events now: ask for none that could pile up. The damage sends only one.
        if options.drawsCursor { cursor.watch(false) }
        focus.rest()
        target.rest()
        protection.rest()
        if !options.staysAwake { screen.inhibitSaver(false) }
        isIdle = true
        guard session.waitForSubscriber(of: publisher) else { return false }
        isIdle = false
        needsCheck = true
        screen.inhibitSaver(true)
        focus.watch()
        if options.drawsCursor {
          cursor.watch(true)
          cursor.markStale()
        }
        pacer.restart(atNs: monotonicNowNs())
        extent.restart()
      }
      // Somebody new gets a frame although nothing changes.
      if publisher.joinCount != knownJoins {
        knownJoins = publisher.joinCount
        owesFrame = true
      }
      session.noteSubscribers(publisher.subscriberCount)
      return true
    }

    /// - Parameter readsSocket: false for what is there already.
    mutating func readEvents(readsSocket: Bool = true) throws(ScreenError) {
      for event in screen.connection.takeEvents(readsSocket: readsSocket) {
        if event.type == screen.damageEvent || event.isOverflow { isDamaged = true }
        if event.type == screen.cursorEvent || event.isOverflow { cursor.markStale() }
        if target.concerns(event) { needsCheck = true }
        if target.isShown(by: event) { isNewlyShown = true }
        focus.note(event)
        protection.note(event)
      }
      if screen.connection.isBroken { throw .serverGone(display: screen.connection.display) }
    }

    /// Looks whether the target is there, and how large.
    private mutating func check(_ publisher: inout Publisher) throws(ScreenError) {
      needsCheck = false
      let before = presence
      // The change and what the server drew with it; the program's drawing follows.
      let drawnBefore = takeDamage()
      presence = try target.check(besides: protection)
      let drawn = try drawing(until: drawnBefore)
      changes.formUnion(drawn)
      if !drawn.isEmpty { isDamaged = true }
      if presence == .gone { return }
      if let size = try target.size() { protection.follow(size) }
      try followResize(&publisher)
      if presence == .shown, before != .shown || isNewlyShown {
        isNewlyShown = false
        transition.begin(nowNs: monotonicNowNs())
      }
      if presence == .shown, target.isWindow { try protectNewPicture() }
    }

    private mutating func protectNewPicture() throws(ScreenError) {
      try refreshProtection()
      guard let size = try target.size(), try protection.noteNewPicture(size) else { return }
      transition.begin(nowNs: monotonicNowNs())
    }

    /// Ends the transition once the program has drawn and nobody draws any more.
    private mutating func followTransition() throws(ScreenError) {
      let nowNs = monotonicNowNs()
      if try !drawing(until: takeDamage()).isEmpty { transition.noteDrawing(nowNs: nowNs) }
      transition.endIfQuiet(nowNs: nowNs)
      // Without a program's drawing, a part of the picture would be black.
      if !transition.isActive, try protection.requestDrawingIfDue() {
        transition.begin(nowNs: nowNs)
      }
    }

    /// Ends a pause for windows that moved without rest, once they rest.
    private mutating func followUnrest() throws(ScreenError) {
      guard isStarved else { return }
      try refreshProtection()
      try screen.connection.synchronize()
      if try isGrabTrue() { failedGrabCount = 0 }
    }

    /// Whether other clients may prevent every grab.
    private var isStarved: Bool { failedGrabCount > Self.maximumFailedGrabs }

    /// Tells subscribers why they receive no frames, or that they do again.
    private mutating func tellWhetherPaused(_ publisher: inout Publisher) {
      let isChanging = transition.isActive || protection.isUndecided || isStarved
      let isUnavailable = presence == .hidden || rules.failure != nil
      let reason: PauseReason? = isUnavailable ? .unavailable : isChanging ? .transition : nil
      guard reason != pauseReason else { return }
      pauseReason = reason
      if let reason { return publisher.pause(reason) }
      publisher.resume()
      owesFrame = true
      changes = .full
    }

    /// Adopts the target's new size, with a new pool if the slots are too small for it.
    private mutating func followResize(_ publisher: inout Publisher) throws(ScreenError) {
      let newArea: PixelRect?
      do { newArea = try ScreenSource.area(of: target, options) } catch .regionOutside {
        // The captured region is nowhere, until the target is as large again.
        return presence = .hidden
      }
      guard let newArea else { return presence = .gone }
      if newArea == area { return }
      extent.limit(to: newArea)
      try setFormat(of: newArea, &publisher)
      area = newArea
      privateSegment = nil
      transition.begin(nowNs: monotonicNowNs())
    }

    private mutating func publishFrame(with publisher: inout Publisher) throws(ScreenError) {
      var loan: FrameLoan
      do { loan = try publisher.loan() } catch { throw .publishing(.loan(error)) }
      let nowNs = monotonicNowNs()
      isDamaged = false
      let changesBefore = takeDamage()
      // A smaller picture is made of what has changed alone.
      if extent.divisor > 1 { changes.formUnion(try drawing(until: changesBefore)) }
      let outcome = Result { () throws(ScreenError) in try grab(into: &loan) }
      if extent.divisor == 1 { changes.formUnion(try drawing(until: changesBefore)) }
      // The picture may contain it or not: it counts for this frame and for the next.
      let meanwhile = try takeChangesMeanwhile()
      changes.formUnion(meanwhile)
      if !meanwhile.isEmpty { isDamaged = true }
      switch outcome {
      case .success(true):
        refusalCount = 0
        failedGrabCount = 0
      case .success(false):
        failedGrabCount += 1
        // The next moment is as good: what changed until then belongs to that frame.
        changes.formUnion(meanwhile)
        owesFrame = true
        return session.countUnchanged()
      case .failure(let error):
        // BadMatch: the screen shrank before its event arrived, and may have grown again since.
        guard case .refused(_, 8) = error, refusalCount < Self.maximumRefusalCount
        else { throw error }
        refusalCount += 1
        needsCheck = true
        owesFrame = true
        return session.countUnchanged()
      }
      let visible = changes.clipped(to: area)
      changes = meanwhile
      // What changed lies outside the captured region: the loan goes back unused.
      if visible.isEmpty, !owesFrame { return session.countUnchanged() }
      loan.metadata.ptsNs = Int64(nowNs)
      loan.metadata.capturedAtNs = nowNs
      loan.metadata.damage = extent.damage(visible)
      loan.metadata.orientation = options.orientation
      if !visibleProtected.isEmpty { loan.metadata.flags.insert(.protected) }
      if extent.divisor > 1 { loan.metadata.flags.insert(.reduced) }
      let picture = extent.picture(of: area)
      _ = loan.publish(byteCount: picture.width * picture.height * 4)
      owesFrame = false
      session.countFrame(isCopy: backend != .shm)
    }

    mutating func takeChangesMeanwhile() throws(ScreenError) -> DamageRegion {
      guard let pending = changesMeanwhile.take() else { return .none }
      return try drawing(until: pending)
    }

    mutating func takeDamage() -> ScreenDamage.Pending {
      damage.take(protection.nextQuestion())
    }

    /// What was drawn until a request.
    private mutating func drawing(
      until pending: ScreenDamage.Pending
    ) throws(ScreenError) -> DamageRegion {
      let areas = try damage.areas(of: pending)
      // By them it is known whose drawing it may be.
      try readEvents(readsSocket: false)
      protection.noteDrawing(areas, of: pending.number)
      return DamageRegion(areas)
    }
  }
#endif
