#if Media
  import CGStreamer
  import Capture
  import FrameBus
  import Platform

  /// One run of a pipeline: receives formats and frames from its sink and publishes them.
  struct PipelineRun: ~Copyable {
    private var sink: SlotSink
    private let name: String
    private let isLive: Bool
    private let rate: FrameRate?
    private let session: CaptureSession
    private let sound: FileSound?
    /// The layout that the publisher last announced.
    private var layout = fb_sink_layout()
    /// The offset to the pipeline's time stamps; unknown before the first frame.
    private var ptsOffsetNs: Int64?
    private var lastPtsNs = Int64.min
    /// The end of the newest frame's display time.
    private var endNs = Int64.min
    private var selection = FrameSelection()
    /// A live frame that subscribers do not need if another one follows in time.
    private var kept: KeptFrame?
    var orientation = Orientation.up
    /// Whether the pipeline's time stamps are of the monotonic clock: when a frame was captured.
    var hasOwnTime = false
    /// Ends the run without pictures or subscribers; nil for a pipeline that is trusted to end.
    var watch: OriginWatch?
    /// The clock of another machine, whose time stamps are placed on this one's.
    var sender: SenderClock?
    /// The sound beside pictures of another machine, on the same thread.
    var liveSound: NetworkSound?
    /// Whether the stream has ended by itself.
    private(set) var hasEnded = false

    private struct KeptFrame: ~Copyable {
      let item: SinkItem
      let ptsNs: Int64
      let arrivedAtNs: UInt64
    }

    /// How soon a kept frame follows a higher demand: 100 ms.
    private static let demandIntervalNs: UInt64 = 100_000_000

    init(
      _ sink: consuming SlotSink, name: String, isLive: Bool, rate: FrameRate?,
      session: CaptureSession, sound: FileSound?
    ) {
      self.sink = sink
      self.name = name
      self.isLive = isLive
      self.rate = rate
      self.session = session
      self.sound = sound
    }

    func start() throws(PipelineError) { try sink.play(waits: watch == nil) }
    mutating func stop() {
      // The pipeline's thread may wait for the sound's thread, which releases it here.
      sound?.end()
      kept = nil
      sink.stop()
    }

    /// Waits until the pipeline announces its format. Returns nil if the run is over.
    mutating func firstFormat() throws(PipelineError) -> FrameFormat? {
      repeat {
        guard let item = try next() else { continue }
        guard item.kind == .format else { throw .noVideo(name: name) }
        return try adopt(item.layout)
      } while watch != nil && !session.isOver
      return nil
    }

    mutating func publishAll(with publisher: inout Publisher) throws(PipelineError) {
      // Pictures of another machine are already on their way.
      guard sender != nil || session.waitForSubscriber(of: publisher) else { return }
      sound?.begin()
      try refill(&publisher)
      sink.acceptFormat()
      while !session.isOver {
        let listenerCount = liveSound?.subscriberCount ?? 0
        if watch?.isIdle(publisher.subscriberCount + listenerCount) == true { break }
        guard let item = try next(publisher.demand) else {
          try publishKept(with: &publisher)
          continue
        }
        switch item.kind {
        case .format:
          try publishKept(with: &publisher, isLast: true)
          let format = try adopt(item.layout)
          sink.withdrawAll()
          do { try publisher.setFormat(format) } catch {
            throw .publishing(.publisher(error))
          }
          try refill(&publisher)
          sink.acceptFormat()
        case .frame:
          withdrawKept()
          if isLive, let ptsNs = item.ptsNs {
            kept = KeptFrame(
              item: item, ptsNs: Int64(clamping: ptsNs), arrivedAtNs: monotonicNowNs())
            try publishKept(with: &publisher)
          } else {
            try publish(item, with: &publisher, arrivedAtNs: monotonicNowNs())
            try refill(&publisher)
          }
        case .end:
          try publishKept(with: &publisher, isLast: true)
          sound?.finish(atNs: endNs, of: session)
          hasEnded = true
          if let ended = watch?.ended { throw ended }
          return try checkWholeness()
        }
      }
      try publishKept(with: &publisher, isLast: true)
    }

    /// Some containers end without an error where they were cut off. The header has the duration:
    /// a video that ends early by more than a tenth of it and more than a second was cut off.
    private func checkWholeness() throws(PipelineError) {
      guard !isLive, let durationNs = sink.durationNs else { return }
      let endNs = UInt64(max(0, lastPtsNs))
      let missingNs = durationNs > endNs ? durationNs - endNs : 0
      if missingNs > 1_000_000_000, missingNs > durationNs / 10 {
        throw .cutOff(name: name, endNs: endNs, durationNs: durationNs)
      }
    }

    /// - Returns: nil if the run is over, or if the kept frame may be needed.
    private mutating func next(_ demand: Demand? = nil) throws(PipelineError) -> SinkItem? {
      defer { session.countMissedDeadlines(sink.takeLostCount()) }
      try liveSound?.publishArrived()
      let deadline = min(session.deadline, keptDeadline(demand), watch?.deadline ?? .never)
      guard
        let item = try sink.next(
          until: deadline, stop: session.stop, framesOut: session.publishedCount)
      else {
        try watch?.checkPictures()
        return nil
      }
      watch?.notePicture()
      return item
    }

    private func keptDeadline(_ demand: Demand?) -> Deadline {
      switch kept {
      case .some(let frame):
        let neededAtNs = frame.arrivedAtNs + selection.waitNs(of: frame.ptsNs, demand)
        return min(Deadline(monotonicNs: neededAtNs), .afterNs(Self.demandIntervalNs))
      case .none: return .never
      }
    }

    /// Stores a layout and returns its frame format.
    private mutating func adopt(_ layout: fb_sink_layout) throws(PipelineError) -> FrameFormat {
      self.layout = layout
      return try PipelineFormat.format(of: layout, rate: rate)
    }

    /// Room for rows and columns that decoders add around a picture.
    static func slotBytes(for format: FrameFormat) -> Int {
      let padded = (format.width + 128) * (format.height + 128)
      let scale =
        (format.byteCount * 16 + format.width * format.height - 1)
        / (format.width * format.height)
      return (padded * scale / 16 + 4095) / 4096 * 4096
    }

    /// Offers a new slot for each one that was published or withdrawn.
    private mutating func refill(_ publisher: inout Publisher) throws(PipelineError) {
      for slot in sink.vacantSlots() {
        guard let loan = try loan(from: &publisher) else { return }
        sink.offer(loan, in: slot)
      }
    }

    /// Waits for a lossless subscriber that lags. Returns nil if the run is over.
    private func loan(from publisher: inout Publisher) throws(PipelineError) -> FrameLoan? {
      do {
        return try publisher.loan(waitingUntil: session.deadline, stop: session.stop)
      } catch {
        if session.isOver { return nil }
        throw .publishing(.loan(error))
      }
    }

    /// Publishes the kept frame if subscribers need it at the rate of their demand, as no other one
    /// has come since. A file publishes all of its frames, as it is read no faster than they take
    /// them.
    private mutating func publishKept(
      with publisher: inout Publisher, isLast: Bool = false
    ) throws(PipelineError) {
      guard let frame = kept.take() else { return }
      let waitedNs = Int64(clamping: monotonicNowNs() - frame.arrivedAtNs)
      let nextNs = isLast ? nil : frame.ptsNs &+ waitedNs
      guard selection.needs(frame.ptsNs, before: nextNs, publisher.demand) else {
        kept = consume frame
        return
      }
      try publish(frame.item, with: &publisher, arrivedAtNs: frame.arrivedAtNs)
      // Only now: a kept frame's slot would count as vacant.
      try refill(&publisher)
    }

    /// Returns the slot of a frame that no subscriber needs.
    private mutating func withdrawKept() {
      guard let frame = kept.take() else { return }
      if let slot = frame.item.slot { sink.offer(sink.takeLoan(of: slot), in: slot) }
    }

    /// Publishes a frame in place, or copies it if the pipeline still uses its memory or decoded it
    /// elsewhere.
    private mutating func publish(
      _ item: borrowing SinkItem, with publisher: inout Publisher, arrivedAtNs: UInt64
    ) throws(PipelineError) {
      if let slot = item.slot {
        var loan = sink.takeLoan(of: slot)
        if !layout.hasSamePlanes(as: item.layout) {
          let format = try adopt(item.layout)
          do { try publisher.setFormat(format) } catch {
            throw .publishing(.publisher(error))
          }
        }
        // The slot was loaned before the pipeline chose the format.
        loan.format = publisher.format
        finish(loan, item, arrivedAtNs: arrivedAtNs, isCopy: false)
      } else {
        guard var loan = try loan(from: &publisher) else { return }
        guard item.copy(to: &loan, as: layout) else {
          throw .failed(name: name, element: "the pipeline", reason: "a frame cannot be read")
        }
        finish(loan, item, arrivedAtNs: arrivedAtNs, isCopy: true)
      }
      session.noteSubscribers(publisher.subscriberCount)
    }

    private mutating func finish(
      _ loan: consuming FrameLoan, _ item: borrowing SinkItem, arrivedAtNs: UInt64, isCopy: Bool
    ) {
      var loan = loan
      loan.metadata.ptsNs = ptsNs(of: item.ptsNs, nowNs: arrivedAtNs)
      loan.metadata.durationNs = item.durationNs ?? 0
      sound?.notePicture(atNs: lastPtsNs)
      endNs = lastPtsNs &+ Int64(clamping: item.durationNs ?? 0)
      loan.metadata.capturedAtNs = capturedAtNs(item.ptsNs, arrivedAtNs: arrivedAtNs)
      loan.metadata.orientation = orientation
      _ = loan.publish(byteCount: layout.byteCount)
      session.countFrame(isCopy: isCopy)
    }

    private func capturedAtNs(_ ptsNs: UInt64?, arrivedAtNs: UInt64) -> UInt64 {
      if let sender, let ptsNs {
        let capturedNs = sender.captured(
          Int64(clamping: ptsNs), placedAtNs: lastPtsNs, arrivedAtNs: arrivedAtNs,
          reportedOffsetNs: sink.reportedOffsetNs)
        return UInt64(max(0, capturedNs))
      }
      return hasOwnTime ? UInt64(max(0, lastPtsNs)) : arrivedAtNs
    }

    /// The file's own time stamp; for a live pipeline, shifted to the monotonic clock. A frame
    /// without one is stamped a nanosecond after the previous frame, so that no time repeats.
    private mutating func ptsNs(of ptsNs: UInt64?, nowNs: UInt64) -> Int64 {
      guard let ptsNs, ptsNs <= UInt64(Int64.max) / 2 else {
        lastPtsNs = lastPtsNs == .min ? 0 : lastPtsNs + 1
        return lastPtsNs
      }
      if let sender {
        lastPtsNs = max(sender.place(Int64(ptsNs), arrivedAtNs: nowNs), lastPtsNs &+ 1)
        return lastPtsNs
      }
      let offset = ptsOffsetNs ?? (isLive && !hasOwnTime ? Int64(nowNs) - Int64(ptsNs) : 0)
      ptsOffsetNs = offset
      lastPtsNs = Int64(ptsNs) + offset
      return lastPtsNs
    }
  }

  extension fb_sink_layout {
    /// Whether the planes have the same offsets and strides.
    fileprivate func hasSamePlanes(as other: fb_sink_layout) -> Bool {
      offset == other.offset && stride == other.stride && byteCount == other.byteCount
    }
  }
#endif
