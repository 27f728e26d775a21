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

    func start() throws(PipelineError) { try sink.play() }
    mutating func stop() {
      // The pipeline's thread may wait for the sound's thread, which releases it here.
      sound?.end()
      sink.stop()
    }

    /// Waits until the pipeline announces its format. Returns nil if the run is over.
    mutating func firstFormat() throws(PipelineError) -> FrameFormat? {
      guard let item = try next() else { return nil }
      guard item.kind == .format else { throw .noVideo(name: name) }
      return try adopt(item.layout)
    }

    mutating func publishAll(with publisher: inout Publisher) throws(PipelineError) {
      guard session.waitForSubscriber(of: publisher) else { return }
      sound?.begin()
      try refill(&publisher)
      sink.acceptFormat()
      while !session.isOver, let item = try next() {
        switch item.kind {
        case .format:
          let format = try adopt(item.layout)
          sink.withdrawAll()
          do { try publisher.setFormat(format) } catch {
            throw .publishing(.publisher(error))
          }
          try refill(&publisher)
          sink.acceptFormat()
        case .frame:
          guard isNeeded(item, publisher.demand) else { continue }
          try publish(item, with: &publisher)
          try refill(&publisher)
        case .end:
          sound?.finish(atNs: endNs, of: session)
          return try checkWholeness()
        }
      }
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

    private func next() throws(PipelineError) -> SinkItem? {
      try sink.next(
        until: session.deadline, stop: session.stop, framesOut: session.publishedCount)
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

    /// Whether subscribers need the frame at the rate of their demand. A file publishes all of its
    /// frames, as it is read no faster than they take them.
    private mutating func isNeeded(_ item: borrowing SinkItem, _ demand: Demand?) -> Bool {
      guard isLive, let ptsNs = item.ptsNs, !selection.needs(Int64(clamping: ptsNs), demand)
      else { return true }
      if let slot = item.slot { sink.offer(sink.takeLoan(of: slot), in: slot) }
      return false
    }

    /// Publishes a frame in place, or copies it if the pipeline still uses its memory or decoded it
    /// elsewhere.
    private mutating func publish(
      _ item: borrowing SinkItem, with publisher: inout Publisher
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
        finish(loan, item, isCopy: false)
      } else {
        guard var loan = try loan(from: &publisher) else { return }
        guard item.copy(to: &loan, as: layout) else {
          throw .failed(name: name, element: "the pipeline", reason: "a frame cannot be read")
        }
        finish(loan, item, isCopy: true)
      }
      session.noteSubscribers(publisher.subscriberCount)
    }

    private mutating func finish(
      _ loan: consuming FrameLoan, _ item: borrowing SinkItem, isCopy: Bool
    ) {
      var loan = loan
      let nowNs = monotonicNowNs()
      loan.metadata.ptsNs = ptsNs(of: item.ptsNs, nowNs: nowNs)
      loan.metadata.durationNs = item.durationNs ?? 0
      sound?.notePicture(atNs: lastPtsNs)
      endNs = lastPtsNs &+ Int64(clamping: item.durationNs ?? 0)
      loan.metadata.capturedAtNs = nowNs
      _ = loan.publish(byteCount: layout.byteCount)
      session.countFrame(isCopy: isCopy)
    }

    /// The file's own time stamp; for a live pipeline, shifted to the monotonic clock. A frame
    /// without one is stamped a nanosecond after the previous frame, so that no time repeats.
    private mutating func ptsNs(of ptsNs: UInt64?, nowNs: UInt64) -> Int64 {
      guard let ptsNs, ptsNs <= UInt64(Int64.max) / 2 else {
        lastPtsNs = lastPtsNs == .min ? 0 : lastPtsNs + 1
        return lastPtsNs
      }
      let offset = ptsOffsetNs ?? (isLive ? Int64(nowNs) - Int64(ptsNs) : 0)
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
