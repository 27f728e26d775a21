#if Media
  import Platform
  import Synchronization
  import Upload

  /// One of several destinations that share an encoder: a thread that feeds it with encoded units
  /// from a bounded queue. Whatever it does, waits for or fails of, the encoder goes on.
  ///
  /// SAFETY: only its thread uses the destination, once it has started.
  final class Branch: @unchecked Sendable {  // because the rest is locked
    /// How much may wait for a destination. After that all of it is dropped, up to a key frame. A
    /// peer is live; a file lacks what is dropped for ever.
    private static let mostLiveNs: UInt64 = 1_000_000_000
    private static let mostStoredNs: UInt64 = 10_000_000_000
    private static let mostBytes = 64 << 20
    /// How often the destination is looked after without a unit.
    private static let interval = Duration.milliseconds(100)
    /// How long the destination may take for what waits at the end.
    private static let endTimeout = Duration.seconds(10)

    let destination: any UnitDestination
    let demand = EncoderDemand()
    let output: String
    let soundEncoder: SoundEncoder
    /// Set before its thread starts.
    private var hasPictures = true
    private let isLive: Bool
    /// Whether its thread looks after the queue in intervals, instead of being woken by each unit.
    let takesBatches: Bool
    private let onEnd: @Sendable (DestinationError) -> Void
    private let state: Mutex<State>
    private let changes = PrivateFutexWord()
    /// The times of its first unit, and of its newest picture and sound. Confined to its thread.
    private var originNs: UInt64?
    private var pictureNs: UInt64 = 0
    private var soundNs: UInt64 = 0
    private var nextFigures = Deadline.now
    private var rate = ByteRate()

    private struct State {
      var queue: [KeptUnit] = []
      var queuedBytes = 0
      var awaitsKeyFrame = false
      /// Whether any picture was queued.
      var hasTaken = false
      var drops = 0
      var figures: DestinationFigures
      /// When the last unit had come; nil before.
      var endDeadline: Deadline?
      var isAbandoned = false
      var hasStarted = false
      var hasEnded = false

      mutating func drop() {
        drops += queue.count { !$0.isSound }
        (queue, queuedBytes) = ([], 0)
      }
    }

    /// - Parameters:
    ///   - sound: the format of its sound.
    ///   - onEnd: called on its thread if it fails.
    init(
      _ destination: any UnitDestination, sound: SoundEncoder,
      onEnd: @escaping @Sendable (DestinationError) -> Void
    ) {
      self.destination = destination
      self.onEnd = onEnd
      soundEncoder = sound
      destination.share(demand, sound: sound)
      isLive = destination.connects
      takesBatches = destination.takesBatches
      output = destination.output
      state = Mutex(State(figures: DestinationFigures(output: output)))
    }

    var figures: DestinationFigures { state.withLock { $0.figures } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// Whether it was asked to end.
    var isRemoved: Bool { state.withLock { $0.endDeadline != nil } }

    /// After `prepare` of the destination.
    func start(withPictures hasPictures: Bool) throws(DestinationError) {
      self.hasPictures = hasPictures
      state.withLock { ($0.hasStarted, $0.awaitsKeyFrame) = (true, hasPictures) }
      do throws(SystemError) {
        try startThread(named: "destination") { [self] in run() }
      } catch {
        throw .elementFailed(element: "thread", message: "\(error)", detail: "")
      }
    }

    // MARK: On any thread

    /// Never blocks.
    func take(_ unit: KeptUnit) {
      state.withLock { state in
        guard state.hasStarted, !state.hasEnded, state.endDeadline == nil else { return }
        if !unit.isSound {
          if state.awaitsKeyFrame, !unit.isKeyFrame {
            // It does not lack what precedes its first picture.
            state.drops += state.hasTaken ? 1 : 0
            return
          }
          state.hasTaken = true
          state.awaitsKeyFrame = false
        }
        state.queue.append(unit)
        state.queuedBytes += unit.byteCount
        let waitingNs = unit.timeNs &- min(unit.timeNs, state.queue[0].timeNs)
        if waitingNs > (isLive ? Self.mostLiveNs : Self.mostStoredNs)
          || state.queuedBytes > Self.mostBytes
        {
          state.drop()
          state.awaitsKeyFrame = hasPictures
        }
      }
      if !takesBatches { wake() }
    }

    /// No further unit follows: the destination is completed.
    func end() {
      state.withLock { $0.endDeadline = $0.endDeadline ?? .after(Self.endTimeout) }
      wake()
    }

    /// The destination stops as it is.
    func abandon() {
      state.withLock { $0.isAbandoned = true }
      wake()
    }

    /// - Returns: false if it has not ended before the deadline.
    func waitForEnd(until deadline: Deadline) -> Bool {
      while state.withLock({ $0.hasStarted && !$0.hasEnded }) {
        if deadline.isPast { return false }
        nap(min(deadline, .after(Self.interval))) { $0.hasEnded }
      }
      return true
    }

    private func wake() {
      changes.increment()
      changes.wakeAll()
    }

    /// Waits until the condition holds, or something else has happened.
    private func nap(_ deadline: Deadline, unless condition: (State) -> Bool) {
      let seen = changes.load()
      if state.withLock({ condition($0) }) { return }
      // SAFETY: no shared word is watched; the private one lives in this object.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (changes, seen), nil, until: deadline)
    }

    // MARK: On its thread

    private func run() {
      var failure: DestinationError?
      var isFailed = false
      do throws(DestinationError) {
        try feed()
        if state.withLock({ $0.isAbandoned }) {
          destination.abandon()
        } else {
          // What was never connected does not end with an error of its own.
          failure = destination.unconnected
          try destination.finish()
        }
      } catch {
        isFailed = failure == nil
        failure = failure ?? error
        destination.abandon()
      }
      publish(isFinal: true)
      state.withLock { state in
        state.figures.error = failure
        state.figures.state = isFailed ? .failed : failure == nil ? .ended : .waiting
        state.drop()
        state.hasEnded = true
      }
      wake()
      demand.mostBitsPerSecond = nil
      if isFailed, let failure { onEnd(failure) }
    }

    private func feed() throws(DestinationError) {
      while let isEnding = nextStep() {
        if try destination.waitForRoom(until: .after(Self.interval), stop: nil) {
          if let unit = next() { try send(unit) }
        } else if isEnding, !destination.isDelivering {
          return
        } else {
          while let sound = soundOfSentPictures() { try send(sound) }
        }
        publish()
      }
    }

    /// - Returns: whether no further unit follows; nil if there is nothing left to do.
    private func nextStep() -> Bool? {
      state.withLock { state in
        if state.isAbandoned { return nil }
        guard let deadline = state.endDeadline else { return false }
        return state.queue.isEmpty || deadline.isPast ? nil : true
      }
    }

    private func next() -> KeptUnit? {
      // Asked for only now that there is room for it.
      if state.withLock({ $0.awaitsKeyFrame }) { demand.wantKeyFrame() }
      nap(.after(Self.interval)) { !$0.queue.isEmpty || $0.endDeadline != nil || $0.isAbandoned }
      return state.withLock { state in
        guard !state.queue.isEmpty else { return nil }
        let unit = state.queue.removeFirst()
        state.queuedBytes -= unit.byteCount
        return unit
      }
    }

    /// Overtakes pictures that wait for room: a muxer holds back a picture until it has sound of
    /// its time, or later sound if that was dropped. A peer plays sound on its own.
    private func soundOfSentPictures() -> KeptUnit? {
      state.withLock { state in
        guard destination.soundMayOvertake || soundNs <= pictureNs,
          let index = state.queue.firstIndex(where: \.isSound)
        else { return nil }
        let unit = state.queue.remove(at: index)
        state.queuedBytes -= unit.byteCount
        return unit
      }
    }

    private func send(_ unit: KeptUnit) throws(DestinationError) {
      if hasPictures, destination.needsKeyFrame, !unit.isKeyFrame {
        return state.withLock { state in
          guard !unit.isSound else { return }
          state.drops += 1
          // Units that precede the next key frame are useless.
          if !state.queue.contains(where: \.isKeyFrame) {
            state.drop()
            state.awaitsKeyFrame = true
          }
        }
      }
      let originNs = self.originNs ?? unit.timeNs
      self.originNs = originNs
      if unit.isSound { soundNs = unit.timeNs } else { pictureNs = unit.timeNs }
      if unit.timeNs >= originNs { try destination.accept(unit, ptsNs: unit.timeNs - originNs) }
    }

    /// - Parameter isFinal: otherwise figures are read ten times a second at most.
    private func publish(isFinal: Bool = false) {
      guard isFinal || nextFigures.isPast else { return }
      nextFigures = .after(Self.interval)
      let byteCount = destination.byteCount
      let network = destination.network
      let isDelivering = destination.isDelivering
      let lostFrames = destination.lostFrames
      rate.take(byteCount, nowNs: monotonicNowNs())
      let bitsPerSecond = isFinal ? 0 : rate.bitsPerSecond
      state.withLock { state in
        state.figures.drops = state.drops + lostFrames
        state.figures.byteCount = byteCount
        state.figures.bitsPerSecond = bitsPerSecond
        state.figures.network = network
        if !state.hasEnded { state.figures.state = isDelivering ? .delivering : .waiting }
      }
    }
  }
#endif
