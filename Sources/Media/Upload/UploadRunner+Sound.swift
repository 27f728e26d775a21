import FrameBus
import Platform
import Sound

extension UploadRunner {
  /// For lossless streams, sound is waited for as long as the publisher waits for subscribers.
  private static let losslessTimeoutNs: UInt64 = 10_000_000_000
  /// Sound that is further ahead of the pictures than this stays in the ring.
  private static let bufferNs: UInt64 = 2_000_000_000
  /// The most chunks sent at a time, before the stop signal is checked again.
  private static let chunksAtATime = 200

  var expectsSound: Bool { plan.streams.count > 1 }

  /// Whether there are or may be pictures: the first stream is assumed to have pictures until its
  /// first frame is sound.
  private var expectsPictures: Bool {
    inputs[0].kind == .unknown || inputs.contains(where: \.isPictures)
  }

  /// The timeline that sound is aligned with; nil if there is sound alone.
  private var picturesTimeline: Timeline? { expectsPictures ? timeline : nil }

  /// Lets streams that there is no room for wait in the ring.
  func rest(_ set: inout SubscriberSet, pictures isPictureResting: Bool) {
    let isSoundResting = expectsPictures && track.bufferedNs > Self.bufferNs
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind == .sound ? isSoundResting : isPictureResting)
    }
  }

  // MARK: Taking sound

  func expectSound(_ index: Int) {
    track.expect(index, timeoutNs: Self.losslessTimeoutNs, nowNs: monotonicNowNs())
  }

  func takeSound(
    _ frame: HeldFrame, of index: Int, _ set: inout SubscriberSet
  ) throws(UploadError) {
    if inputs[index].kind != .sound {
      inputs[index].kind = .sound
      guard destination.takesSound else {
        throw .destination(.noSound(output: destination.output))
      }
      // The stream was assumed to have pictures, of which only the newest matters.
      if plan.policy == nil, inputs[index].policy == .latest {
        return try attachAnew(index, &set)
      }
    }
    let timeoutNs =
      inputs[index].isLossless ? Self.losslessTimeoutNs : SoundTrack.liveTimeoutNs
    do throws(SoundConverter.Refusal) {
      try track.take(
        frame.lease, of: index, timeoutNs: timeoutNs, beside: picturesTimeline,
        nowNs: monotonicNowNs())
      inputs[index].refusal = nil
    } catch {
      // Reported once.
      if inputs[index].refusal != error { report(.soundRefused(inputs[index].stream, error)) }
      inputs[index].refusal = error
    }
  }

  // MARK: Sending sound

  /// Sends the completed chunks to the destination.
  func sendSound() throws(UploadError) {
    for _ in 0..<Self.chunksAtATime {
      guard
        let placed = track.next(
          beside: picturesTimeline, fillsGaps: expectsSound, nowNs: monotonicNowNs())
      else { return }
      try send(placed)
    }
  }

  /// When silence is due, if nothing else happens before.
  var soundWakeNs: UInt64? {
    expectsSound ? monotonicNowNs() &+ SoundTrack.liveTimeoutNs / 3 : nil
  }

  /// Sends the sound that belongs to the pictures, after these have ended.
  func sendLastSound(_ set: inout SubscriberSet) throws(UploadError) {
    let ending = end
    if ending != .stopped { try receiveLastSound(&set) }
    end = ending
    try sendSound()
    while let placed = track.drain(beside: picturesTimeline) { try send(placed) }
  }

  /// Receives the sound up to the pictures' end from lossless streams, and what others have now.
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
      let timeout = isAwaited && !isWhole ? Deadline.after(.seconds(2)) : .now
      guard try receive(&set, until: timeout) || (isAwaited && !timeout.isPast) else { return }
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
