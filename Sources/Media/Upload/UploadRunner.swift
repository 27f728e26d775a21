import AppGroup
import FrameBus
import Platform
import Sound

/// Subscribes to a stream of pictures and to streams of sound, and feeds them to a destination
/// until the plan is fulfilled, the pictures' publisher finishes, or the signal is raised. It runs
/// on the thread that calls `run`. If the first stream is of sound, the upload has sound alone.
///
/// If a publisher dies, the runner waits for the next one: its frames, at any resolution, go to
/// the same destination.
public final class UploadRunner {
  /// How often sound is polled while there is no room for a picture.
  private static let soundInterval = Duration.milliseconds(5)

  let plan: UploadPlan
  let group: AppGroup
  let stop: StopSignal
  let report: @Sendable (UploadReport) -> Void
  /// Changes the upload while it runs: called before each frame and chunk of sound, and at least
  /// once a second.
  package var adjust: (inout UploadPump) -> Void = { _ in }
  private let progressNs: UInt64

  var inputs: [UploadInput]
  var pump: UploadPump
  private var format: FrameFormat?
  private var attachedNs: UInt64 = 0
  private var reportAtNs: UInt64 = 0
  /// The arrival of the first sound.
  var firstSoundNs: UInt64?
  var end: UploadEnd?

  public init(
    _ plan: UploadPlan, to destination: any Destination, in group: AppGroup, stop: StopSignal,
    report: @escaping @Sendable (UploadReport) -> Void = { _ in }
  ) {
    self.plan = plan
    self.group = group
    self.stop = stop
    self.report = report
    inputs = plan.streams.map(UploadInput.init)
    pump = UploadPump(to: destination, measuresSkew: plan.measuresSkew)
    progressNs = Self.nanoseconds(plan.progressInterval)
  }

  /// Runs to the end and closes the destination: complete, or after an error as it is.
  public func run() throws(UploadError) -> UploadSummary {
    try attempt { () throws(DestinationError) in
      try pump.prepare(expectingSound: plan.streams.count > 1)
    }
    defer { endSearches() }
    var set = try subscriberSet()
    // Sound first: the publisher of a file starts with the first subscriber to its pictures.
    for index in inputs.indices.dropFirst() { try attachOrSearch(index, &set) }
    guard let attachment = try attach(plan.stream, holds: destination.heldFrames + 1) else {
      return summary(set, end: .stopped)
    }
    take(attachment, as: 0, &set)
    do throws(UploadError) {
      if inputs[0].isLossless { try attachSoundBesidePictures(&set) }
      let end = try pumpFrames(&set)
      pump.release()
      try receiveLastSound(&set)
      try attempt { () throws(DestinationError) in try pump.finish() }
      // A user who stops it may do so because there is no connection.
      if end != .stopped, let error = destination.unconnected {
        throw UploadError.destination(error)
      }
      return summary(set, end: end)
    } catch {
      pump.release()
      destination.abandon()
      throw error
    }
  }

  var destination: any Destination { pump.destination }

  /// Runs `body`, and converts the destination's error.
  @discardableResult
  func attempt<Value>(
    _ body: () throws(DestinationError) -> Value
  ) throws(UploadError) -> Value {
    do throws(DestinationError) { return try body() } catch { throw .destination(error) }
  }

  private func subscriberSet() throws(UploadError) -> SubscriberSet {
    do throws(SystemError) {
      return try SubscriberSet()
    } catch {
      throw .cannotWait(error)
    }
  }

  private func summary(_ set: borrowing SubscriberSet, end: UploadEnd) -> UploadSummary {
    UploadSummary(
      progress: pump.summary(drops: drops(set), sound: soundFigures(set)),
      output: destination.output, end: end)
  }

  // MARK: Frames

  private func pumpFrames(_ set: inout SubscriberSet) throws(UploadError) -> UploadEnd {
    attachedNs = monotonicNowNs()
    reportAtNs = attachedNs &+ progressNs
    while end == nil {
      try admitFound(&set)
      if !inputs[0].isLossless, let dueNs = pump.dueNs {
        rest(&set, pictures: true)
        _ = try receive(&set, until: min(nextWake, Deadline(monotonicNs: dueNs)))
      } else if try hasRoom() {
        // Received once there is room: the frame is then the newest when it can be used.
        rest(&set, pictures: false)
        _ = try receive(&set, until: nextWake)
      } else if inputs.count > 1 {
        rest(&set, pictures: true)
        while end == nil, try receive(&set, until: .now) {}
      }
      try noticeEnd(&set)
      if inputs.contains(where: { $0.heldBack != nil && $0.start?.end.isPast == true }) {
        try sendHeldBack(set)
      }
      adjust(&pump)
      if let member = inputs[0].member { set.setDemand(destination.pictureDemand, of: member) }
      try sendSound()
      if end == nil {
        try attempt { () throws(DestinationError) in try pump.repeatIfStill() }
      }
      reportIfDue(set)
      try checkLimits(set)
    }
    let end = self.end ?? .stopped
    if end == .publisherFinished || end == .publisherFailed { try sendHeldBack(set) }
    return end
  }

  /// Notices the end of a live stream while every attempt to connect fails: nothing is received
  /// meanwhile, and the next attempt may be far away.
  private func noticeEnd(_ set: inout SubscriberSet) throws(UploadError) {
    guard end == nil, !inputs[0].isLossless, let member = inputs[0].member,
      let error = destination.unconnected, let reason = set.finishReason(of: member)
    else { return }
    // The first attempt goes on.
    if case .notConnected = error { return }
    try close(member, reason, &set)
  }

  /// Drops of the pictures, or of the sound if there are no pictures.
  private func drops(_ set: borrowing SubscriberSet) -> UInt64 { inputs[0].drops(in: set) }

  private func hasRoom() throws(UploadError) -> Bool {
    let deadline = inputs.count > 1 ? min(nextWake, .after(Self.soundInterval)) : nextWake
    return try attempt { () throws(DestinationError) in
      try destination.waitForRoom(until: deadline, stop: stop)
    }
  }

  /// - Returns: whether a frame was received.
  func receive(
    _ set: inout SubscriberSet, until deadline: Deadline
  ) throws(UploadError) -> Bool {
    let arrival: SubscriberSet.Arrival
    do throws(SubscriberSet.MemberError) {
      arrival = try set.next(until: deadline, stop: stop)
    } catch {
      try recover(from: error, &set)
      return false
    }
    switch consume arrival {
    case .frame(let member, let lease):
      try take(HeldFrame(lease), of: member, &set)
      return true
    case .finished(let member, let reason): try close(member, reason, &set)
    case .nothingLeft: sleep(until: min(deadline, .after(Self.soundInterval)))
    case .timedOut: break
    case .stopped: end = .stopped
    }
    return false
  }

  /// Continues after an error that has a remedy.
  private func recover(
    from failure: SubscriberSet.MemberError, _ set: inout SubscriberSet
  ) throws(UploadError) {
    guard let index = inputs.firstIndex(where: { $0.member == failure.member }) else { return }
    switch failure.error {
    case .holdsExhausted:
      // Fewer holds were granted than requested: the frame kept for a still screen goes first, with
      // one held back, because a newer one exists; the destination releases the others soon.
      pump.release()
      _ = inputs[index].takeHeldBack()
      sleep(until: .after(.milliseconds(1)))
    case .refused(_, .losslessNotOffered) where plan.policy == nil:
      // A live publisher replaced a lossless one.
      try attachAnew(index, &set)
    default: throw .cannotReceive(failure.error)
    }
  }

  private func take(
    _ frame: HeldFrame, of member: SubscriberSet.Member, _ set: inout SubscriberSet
  ) throws(UploadError) {
    guard let index = inputs.firstIndex(where: { $0.member == member }) else { return }
    if frame.lease.format.kind.isSound {
      try takeSound(frame, of: index, &set)
    } else if let other = inputs.indices.first(where: { $0 != index && inputs[$0].isPictures }) {
      throw .twoPictures(inputs[other].stream, inputs[index].stream)
    } else {
      learn(.pictures, of: index)
      if inputs[index].holdsBack(frame) { return }
      try send(frame, frame.lease.metadata, isRepeatable: !inputs[index].isLossless)
    }
  }

  /// Sends the picture that was held back, if any. The stream still shows it, so its time is
  /// now.
  private func sendHeldBack(_ set: borrowing SubscriberSet) throws(UploadError) {
    guard let index = inputs.firstIndex(where: { $0.heldBack != nil }),
      try attempt({ () throws(DestinationError) in try pump.hasRoomNow() }),
      let frame = inputs[index].takeHeldBack()
    else { return }
    var metadata = frame.lease.metadata
    let ageNs = monotonicNowNs() &- metadata.capturedAtNs
    let pause = inputs[index].pauseReason(in: set)
    let old = OldPicture(stream: inputs[index].stream, ageNs: ageNs, pause: pause)
    if plan.refusesOldPictures, pause != nil || inputs[index].isOnScreen(in: set) {
      throw .oldPicture(old)
    }
    report(.oldPicture(old))
    metadata.ptsNs &+= Int64(clamping: ageNs)
    metadata.capturedAtNs &+= ageNs
    try send(frame, metadata, isRepeatable: true)
  }

  private func send(
    _ frame: HeldFrame, _ metadata: FrameMetadata, isRepeatable: Bool
  ) throws(UploadError) {
    if frame.lease.format != format {
      format = frame.lease.format
      report(.format(frame.lease.format))
    }
    adjust(&pump)
    try attempt { () throws(DestinationError) in
      try pump.send(frame, metadata, isRepeatable: isRepeatable)
    }
    let limit = min(plan.frameLimit ?? .max, destination.frameLimit ?? .max)
    let count = destination.refusesPictures ? pump.frames : pump.sentFrames
    if count >= limit { end = .limitReached }
  }

  // MARK: Time

  /// The next time at which there is work to do without a frame.
  private var nextWake: Deadline {
    var wakeNs = reportAtNs
    if let dueNs = pump.repeatsAtNs { wakeNs = min(wakeNs, dueNs) }
    if let endNs { wakeNs = min(wakeNs, endNs) }
    if let soundWakeNs { wakeNs = min(wakeNs, soundWakeNs) }
    for input in inputs where input.heldBack != nil {
      wakeNs = min(wakeNs, input.start?.end.monotonicNs ?? wakeNs)
    }
    return Deadline(monotonicNs: wakeNs)
  }

  private var endNs: UInt64? {
    let first = pump.firstArrivalNs ?? (pump.expectsPictures ? nil : firstSoundNs)
    guard let duration = plan.duration, let first else { return nil }
    return first &+ Self.nanoseconds(duration)
  }

  private func checkLimits(_ set: borrowing SubscriberSet) throws(UploadError) {
    guard end == nil else { return }
    let nowNs = monotonicNowNs()
    if stop.isRaised { end = .stopped }
    if let endNs, nowNs >= endNs { end = .limitReached }
    if let timeout = plan.firstFrameWithin, pump.frames == 0, end == nil,
      inputs[0].heldBack == nil,
      nowNs >= attachedNs &+ Self.nanoseconds(timeout)
    {
      throw .noFrame(
        plan.stream, seconds: timeout.components.seconds, inputs[0].pauseReason(in: set))
    }
  }

  private func reportIfDue(_ set: borrowing SubscriberSet) {
    let nowNs = monotonicNowNs()
    guard nowNs >= reportAtNs else { return }
    reportAtNs = nowNs &+ progressNs
    report(
      .progress(pump.progress(drops: drops(set), sound: soundFigures(set), nowNs: nowNs)))
  }

  private static func nanoseconds(_ duration: Duration) -> UInt64 {
    // Effectively unlimited, and small enough to be added to any time.
    min(duration.clampedNanoseconds, .max / 4)
  }
}
