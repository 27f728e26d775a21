#if Media
  import CGStreamer
  import CGStreamerSystem
  import FrameBus
  import Platform

  /// The sink of a running pipeline, and the slots offered to it (CSlotSink.h). Confined to one
  /// thread; when destroyed, it stops the pipeline's threads and only then returns the slots.
  @safe struct SlotSink: ~Copyable {
    private let pipeline: CapturePipeline
    /// SAFETY: lives until deinit, which alone frees it.
    @unsafe private let sink: OpaquePointer
    private var loans: [OfferedLoan]
    /// Whether the source is a file. The threads of others may wait for events that cannot be seen.
    private let isFile: Bool
    /// What the pipeline decodes, if that comes from outside of it.
    private let feed: (any PipelineFeed)?
    /// Pictures of the feed that were lost, since they were last taken.
    private(set) var lostCount: UInt64 = 0

    /// A loan that the pipeline may be writing into.
    private final class OfferedLoan { var loan: FrameLoan? }

    /// The number of slots offered: two wait in the queue, one is arriving, one is being decoded
    /// into, and one is being returned.
    static let slotCount = 5

    /// - Parameters:
    ///   - pipeline: not running yet, with an element called `sink`.
    ///   - isFile: whether it ends by itself.
    ///   - feed: for a pipeline with an element called `feed`.
    init(
      _ pipeline: CapturePipeline, isFile: Bool, feed: (any PipelineFeed)? = nil
    ) throws(PipelineError) {
      guard let sink = unsafe fb_slot_sink_new(pipeline.element, "sink") else {
        throw .badDescription(reason: "no element is called “sink”")
      }
      self.pipeline = pipeline
      unsafe self.sink = sink
      self.isFile = isFile
      self.feed = feed
      loans = (0..<Self.slotCount).map { _ in OfferedLoan() }
    }

    /// From now on the time of a frame is one of the monotonic clock. Call it before `play`.
    func useClock() { unsafe fb_slot_sink_use_clock(sink, pipeline.element) }

    /// From a frame's time to this machine's monotonic clock, by the sender's newest report. Both
    /// machines' clocks must tell the same time. Nil without a report.
    var reportedOffsetNs: Int64? {
      var wallAtZeroNs: Int64 = 0
      guard unsafe fb_network_sender_time(pipeline.element, &wallAtZeroNs) else { return nil }
      let now = (wall: Int64(clamping: wallNowNs()), monotonic: Int64(clamping: monotonicNowNs()))
      return wallAtZeroNs &- now.wall &+ now.monotonic
    }

    /// The duration in the file's header; nil if unknown.
    var durationNs: UInt64? { pipeline.durationNs }

    /// Ends the pipeline's threads, after which no slot is written, and returns the loans.
    mutating func stop() {
      unsafe fb_slot_sink_flush(sink)
      pipeline.stop()
      for offered in loans { offered.loan = nil }
    }

    deinit {
      unsafe fb_slot_sink_flush(sink)
      pipeline.stop()
      unsafe fb_slot_sink_free(sink)
    }

    /// - Parameter waits: until the pipeline has started, or failed to.
    func play(waits: Bool = true) throws(PipelineError) {
      if waits { try pipeline.play() } else { try pipeline.playApart() }
    }

    /// Waits for the next format, frame, or the end.
    /// - Returns: nil if the deadline passed or `stop` was raised.
    mutating func next(
      until deadline: Deadline, stop: StopSignal, framesOut: UInt64
    ) throws(PipelineError) -> SinkItem? {
      var wasIdle = false
      while true {
        if let item = unsafe SinkItem(fb_slot_sink_next(sink)) { return item }
        try pipeline.throwFailure(framesOut: framesOut)
        // Checked last: everything that the pipeline's threads reported came before.
        if wasIdle { throw .endedSilently(name: pipeline.name) }
        let ready: Int?
        do {
          ready = try firstReadable(
            stop.descriptorNumber, unsafe fb_slot_sink_descriptor(sink),
            pipeline.descriptorNumber, feed?.descriptorNumber ?? -1,
            until: isFile ? min(deadline, .after(Self.idleInterval)) : deadline)
        } catch { throw .system(error) }
        if ready == 3, let feed {
          do throws(OriginError) {
            lostCount += try feed.push(into: PipelineInput(pipeline))
          } catch { throw .origin(error) }
          if deadline.isPast { return nil }
        }
        if ready == 0 || ready == nil && deadline.isPast { return nil }
        wasIdle = ready == nil && isFile && pipeline.isIdle
      }
    }

    /// How often to check whether the pipeline's threads have ended without a message: decodebin
    /// loses the error of a demultiplexer that fails while it is being linked.
    private static let idleInterval: Duration = .seconds(1)

    mutating func takeLostCount() -> UInt64 {
      defer { lostCount = 0 }
      return lostCount
    }

    func acceptFormat() { unsafe fb_slot_sink_accept_format(sink) }

    /// Offers a loan to the pipeline.
    mutating func offer(_ loan: consuming FrameLoan, in slot: Int) {
      var loan = loan
      var bytes = loan.bytes
      // SAFETY: the slot's memory stays mapped and ours while the loan lives, which this table
      // keeps until the pipeline holds no part of the slot.
      unsafe bytes.withUnsafeMutableBytes {
        unsafe fb_slot_sink_offer(sink, Int32(slot), $0.baseAddress, $0.count)
      }
      loans[slot].loan = consume loan
    }

    /// Takes the loan of a frame in a slot, to publish it.
    mutating func takeLoan(of slot: Int) -> FrameLoan {
      guard let loan = loans[slot].loan.take() else {
        preconditionFailure("slot \(slot) was never offered")
      }
      return loan
    }

    /// Requests all slots back, because they are too small now.
    mutating func withdrawAll() {
      for slot in loans.indices { unsafe fb_slot_sink_withdraw(sink, Int32(slot)) }
    }

    /// The slots without an offer. Loans that were withdrawn return to the publisher here.
    mutating func vacantSlots() -> [Int] {
      loans.indices.filter { slot in
        guard unsafe fb_slot_sink_is_vacant(sink, Int32(slot)) else { return false }
        loans[slot].loan = nil
        return true
      }
    }
  }
#endif
