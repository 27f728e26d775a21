#if Media
  import CPipeWire
  import Capture
  import FrameBus
  import Platform

  /// One run of a portal's capture: publishes each picture that is needed, pauses the stream when
  /// the pictures are lost, and has them restored.
  struct PortalRun: ~Copyable {
    /// Nil while the pictures are lost.
    private var link: PortalLink?
    private var layout: fb_pipewire_format
    private let options: PortalOptions
    private let session: CaptureSession
    private var extent: CaptureExtent
    /// Whether the producer makes pictures.
    private var isActive = true
    private var idleSinceNs: UInt64?
    private var knownJoins: UInt64 = 0
    /// Somebody new gets a picture although nothing changes.
    private var owesFrame = true
    /// Until then, a new picture is preferred to the newest one.
    private var freshByNs: UInt64 = 0
    private var dueNs: UInt64 = 0
    /// When the node is linked again, because no picture has come; nil while there is one.
    private var restartNs: UInt64?
    private var restartDelayNs = shortestRestartNs
    private var lastPtsNs = Int64.min
    /// Pictures that could not be copied, one after another.
    private var malformedCount = 0

    private static let maximumMalformed = 100
    /// How long the producer goes on after the last subscriber has left.
    private static let lingerNs: UInt64 = 2_000_000_000
    /// How long a producer that was resting may take for its first picture.
    private static let freshLimitNs: UInt64 = 200_000_000
    /// How often the portal is heard while nobody subscribes.
    private static let idleInterval = Duration.seconds(1)
    /// mutter draws once when its node is linked, and then what changes. A picture that was made
    /// before the capture's end of the link runs is lost.
    private static let shortestRestartNs: UInt64 = 1_000_000_000
    private static let longestRestartNs: UInt64 = 8_000_000_000
    private static let retryDelays = [1, 2, 4, 8, 16, 30].map { Duration.seconds($0) }

    init(
      _ link: PortalLink, _ layout: fb_pipewire_format, options: PortalOptions,
      session: CaptureSession
    ) {
      self.link = link
      self.layout = layout
      self.options = options
      self.session = session
      extent = CaptureExtent(rate: options.rate)
    }

    mutating func publishAll(with publisher: inout Publisher) throws(PortalError) {
      while !session.isOver {
        guard let why = try publishUntilLost(with: &publisher) else { return }
        link = nil
        // The process that was granted the node alone can get another one.
        if options.grant != nil { throw .lost(why) }
        session.noticed?("no picture is published until it is back: \(why)")
        publisher.pause(.unavailable)
        try restore()
        if session.isOver { return }
        session.noticed?("the pictures are back")
        publisher.resume()
      }
    }

    /// - Returns: why the pictures ended; nil if the run is over.
    private mutating func publishUntilLost(
      with publisher: inout Publisher
    ) throws(PortalError) -> String? {
      while !session.isOver {
        let isSubscribed = rest(publisher)
        if let why = try link?.loss() { return why }
        guard isSubscribed else { continue }
        if let layout = link?.capture.takeFormat() { self.layout = layout }
        try follow(publisher)
        askForPicture()
        if isFrameDue {
          try publish(with: &publisher)
          if malformedCount > Self.maximumMalformed {
            throw .unreadable("none of \(malformedCount) pictures lies in its memory")
          }
        } else {
          try link?.wait(until: nextLook, in: session)
        }
      }
      return nil
    }

    /// Has the producer rest once nobody has subscribed for a while.
    /// - Returns: whether there is a subscriber.
    private mutating func rest(_ publisher: borrowing Publisher) -> Bool {
      if publisher.subscriberCount == 0 {
        session.noteSubscribers(0)
        restIfIdle()
        let interval = isActive ? CaptureExtent.demandInterval : Self.idleInterval
        let end = min(session.deadline, .after(interval))
        guard publisher.waitForSubscriber(until: end, stop: session.stop) else { return false }
      }
      idleSinceNs = nil
      if !isActive {
        isActive = true
        link?.capture.setActive(true)
        extent.restart()
        freshByNs = monotonicNowNs() + Self.freshLimitNs
      }
      if publisher.joinCount != knownJoins {
        knownJoins = publisher.joinCount
        owesFrame = true
      }
      session.noteSubscribers(publisher.subscriberCount)
      return true
    }

    /// Links the node again if it has given no picture for some time.
    private mutating func askForPicture() {
      guard link?.capture.newest == nil else {
        restartNs = nil
        restartDelayNs = Self.shortestRestartNs
        return
      }
      let nowNs = monotonicNowNs()
      let atNs = restartNs ?? nowNs + restartDelayNs
      restartNs = atNs
      guard nowNs >= atNs else { return }
      link?.capture.restart()
      restartDelayNs = min(2 * restartDelayNs, Self.longestRestartNs)
      restartNs = nowNs + restartDelayNs
    }

    /// A producer that is stopped before its first picture may never begin (PipeWire 0.3.65).
    private mutating func restIfIdle() {
      let nowNs = monotonicNowNs()
      let sinceNs = idleSinceNs ?? nowNs
      idleSinceNs = sinceNs
      guard isActive, nowNs >= sinceNs + Self.lingerNs, link?.capture.newest != nil else { return }
      isActive = false
      link?.capture.setActive(false)
    }

    private mutating func follow(_ publisher: borrowing Publisher) throws(PortalError) {
      let area = PixelRect(x: 0, y: 0, width: Int(layout.width), height: Int(layout.height))
      extent.follow(publisher.demand, of: area, nowNs: monotonicNowNs())
    }

    private var isFrameDue: Bool {
      guard let has = link?.capture.hasNewPicture else { return false }
      let nowNs = monotonicNowNs()
      if has { return nowNs >= dueNs }
      return owesFrame && nowNs >= freshByNs && link?.capture.newest != nil
    }

    /// When the next picture may be due, or a subscriber may need more.
    private var nextLook: Deadline {
      var look = Deadline.after(CaptureExtent.demandInterval)
      if link?.capture.hasNewPicture == true { look = min(look, Deadline(monotonicNs: dueNs)) }
      // A moment that is past already waits for a picture.
      if owesFrame, freshByNs > monotonicNowNs() {
        look = min(look, Deadline(monotonicNs: freshByNs))
      }
      return look
    }

    private mutating func publish(with publisher: inout Publisher) throws(PortalError) {
      guard let picture = link?.capture.newest else { return }
      let isNew = link?.capture.hasNewPicture == true
      let format = try PortalSource.format(
        layout, of: PixelRect(picture.crop), at: options.rate)
      var loan: FrameLoan
      do { try publisher.setFormat(format) } catch { throw .publishing(.publisher(error)) }
      do { loan = try publisher.loan() } catch { throw .publishing(.loan(error)) }
      let skipped = link?.capture.skippedCount ?? 0
      guard link?.capture.copy(to: &loan) == true else {
        malformedCount += 1
        return session.countUnchanged()
      }
      malformedCount = 0
      let nowNs = monotonicNowNs()
      // Who has come since the picture was made sees what the screen shows now.
      let isOfNow = owesFrame || !isNew
      loan.metadata.capturedAtNs =
        isOfNow ? nowNs : Self.moment(picture.ptsNs, nowNs: nowNs)
      // Times increase, whatever a producer says.
      lastPtsNs = max(lastPtsNs &+ 1, Int64(loan.metadata.capturedAtNs))
      loan.metadata.ptsNs = lastPtsNs
      loan.metadata.orientation = Orientation(transform: Int32(clamping: picture.transform))
      loan.metadata.damage = picture.changes
      _ = loan.publish(byteCount: format.byteCount)
      session.countFrame(isCopy: true)
      session.countMissedDeadlines(skipped &- countedSkips)
      countedSkips = skipped
      owesFrame = false
      // Earlier by an eighth, as a producer's clock is another one.
      dueNs = nowNs + FramePacer(rate: extent.rate, startNs: nowNs).intervalNs / 8 * 7
    }

    private var countedSkips: UInt64 = 0

    /// When the producer says that it captured, unless that cannot be.
    private static func moment(_ ptsNs: UInt64, nowNs: UInt64) -> UInt64 {
      ptsNs <= nowNs && nowNs - ptsNs < 1_000_000_000 ? ptsNs : nowNs
    }

    // MARK: Lost pictures

    /// Opens a session again, with the choice that the user made.
    private mutating func restore() throws(PortalError) {
      var delays = Self.retryDelays[...]
      while !session.isOver {
        do throws(PortalError) {
          guard let next = try PortalLink.open(options, in: session),
            let layout = try next.firstFormat(in: session)
          else { return }
          self.layout = layout
          countedSkips = 0
          link = next
          // Its first picture is on its way.
          isActive = true
          owesFrame = true
          restartNs = nil
          freshByNs = monotonicNowNs() + Self.freshLimitNs
          return
        } catch {
          guard error.mayPass else { throw error }
          session.noticed?("not back yet: \(error)")
        }
        let delay = delays.count > 1 ? delays.removeFirst() : delays.first ?? .seconds(30)
        guard session.sleep(until: .after(delay)) else { return }
      }
    }
  }
#endif
