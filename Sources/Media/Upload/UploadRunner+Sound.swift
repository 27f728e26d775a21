import FrameBus
import Platform
import Sound

extension UploadRunner {
  /// Where nothing may be missing, sound is waited for as long as the publisher waits for us.
  private static let losslessPatienceNs: UInt64 = 10_000_000_000
  /// Sound that runs further ahead of the pictures waits on the bus.
  private static let bufferNs: UInt64 = 2_000_000_000
  /// So much is sent at a time: in between, a signal to stop is heard.
  private static let chunksAtATime = 200

  var expectsSound: Bool { plan.streams.count > 1 }

  /// Whether there are pictures, or may be: the first stream is taken to have them until it shows
  /// that it has sound.
  private var expectsPictures: Bool {
    inputs[0].kind == .unknown || inputs.contains(where: \.isPictures)
  }

  /// The time that sound is placed in; nil where there is sound alone.
  private var picturesTimeline: Timeline? { expectsPictures ? timeline : nil }

  /// Lets streams wait on the bus that there is no room for.
  func rest(_ set: inout SubscriberSet, pictures isPictureResting: Bool) {
    let isSoundResting = expectsPictures && track.bufferedNs > Self.bufferNs
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind == .sound ? isSoundResting : isPictureResting)
    }
  }

  // MARK: Taking sound

  func expectSound(_ index: Int) {
    track.expect(index, patienceNs: Self.losslessPatienceNs, nowNs: monotonicNowNs())
  }

  func takeSound(
    _ frame: HeldFrame, of index: Int, _ set: inout SubscriberSet
  ) throws(UploadError) {
    if inputs[index].kind != .sound {
      inputs[index].kind = .sound
      guard destination.takesSound else {
        throw .destination(.noSound(output: destination.output))
      }
      // It was taken for pictures, of which the newest is enough.
      if plan.policy == nil, inputs[index].policy == .latest {
        return try attachAnew(index, &set)
      }
    }
    let patienceNs =
      inputs[index].isLossless ? Self.losslessPatienceNs : SoundTrack.livePatienceNs
    do throws(SoundConverter.Refusal) {
      try track.take(
        frame.lease, of: index, patienceNs: patienceNs, beside: picturesTimeline,
        nowNs: monotonicNowNs())
      inputs[index].refusal = nil
    } catch {
      // Said once.
      if inputs[index].refusal != error { report(.soundRefused(inputs[index].stream, error)) }
      inputs[index].refusal = error
    }
  }

  // MARK: Sending sound

  /// Gives the destination what is complete.
  func sendSound() throws(UploadError) {
    for _ in 0..<Self.chunksAtATime {
      guard
        let placed = track.next(
          beside: picturesTimeline, fillsGaps: expectsSound, nowNs: monotonicNowNs())
      else { return }
      try send(placed)
    }
  }

  /// When silence is due, should nothing else happen before.
  var soundWakeNs: UInt64? {
    expectsSound ? monotonicNowNs() &+ SoundTrack.livePatienceNs / 3 : nil
  }

  /// What still belongs to the pictures, when they have ended.
  func sendLastSound(_ set: inout SubscriberSet) throws(UploadError) {
    let ending = end
    if ending != .stopped { try receiveLastSound(&set) }
    end = ending
    try sendSound()
    while let placed = track.drain(beside: picturesTimeline) { try send(placed) }
  }

  /// From a file, all that its end is ahead of; else what is there.
  private func receiveLastSound(_ set: inout SubscriberSet) throws(UploadError) {
    end = nil
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind != .sound)
    }
    var isAwaited: Bool {
      inputs.contains { $0.kind == .sound && $0.isLossless && $0.member != nil }
    }
    while end == nil {
      let isWhole = track.positionNs >= UInt64(clamping: timeline.lastNs)
      let patience = isAwaited && !isWhole ? Deadline.after(.seconds(2)) : .now
      guard try receive(&set, until: patience) || (isAwaited && !patience.isPast) else { return }
      try sendSound()
    }
  }

  private func send(_ placed: PlacedChunk) throws(UploadError) {
    do throws(DestinationError) {
      try destination.accept(placed.chunk, ptsNs: placed.ptsNs)
    } catch {
      throw .destination(error)
    }
    skew?.hear(placed.chunk, atNs: placed.ptsNs)
    statistics.countSound()
    if !expectsPictures, statistics.soundChunks >= plan.frameLimit ?? .max { end = .limitReached }
  }

  // MARK: Streams that end

  func close(
    _ member: SubscriberSet.Member, _ reason: FinishReason, _ set: inout SubscriberSet
  ) throws(UploadError) {
    guard let index = inputs.firstIndex(where: { $0.member == member }) else { return }
    inputs[index].leave(&set)
    track.end(index)
    if index == 0 || inputs[index].isPictures {
      end = reason == .failed ? .publisherFailed : .publisherFinished
    } else if end == nil {
      try attachOrSearch(index, &set)
    }
  }

  func soundFigures(_ set: borrowing SubscriberSet) -> SoundFigures? {
    guard expectsSound || inputs[0].kind == .sound else { return nil }
    var figures = SoundFigures()
    figures.chunks = statistics.soundChunks
    for input in inputs where input.kind == .sound { figures.drops += input.drops(in: set) }
    figures.lateSampleFrames = track.lostCount
    figures.skewNs = skew?.skewNs
    return figures
  }
}
