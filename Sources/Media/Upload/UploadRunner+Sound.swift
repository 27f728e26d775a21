import FrameBus
import Platform
import Sound

extension UploadRunner {
  /// For lossless streams, sound is waited for as long as the publisher waits for subscribers.
  private static let losslessTimeoutNs: UInt64 = 10_000_000_000
  /// Sound that is further ahead of the pictures than this stays in the ring.
  private static let bufferNs: UInt64 = 2_000_000_000

  /// Keeps the kind of a stream: the first one is assumed to have pictures until its first frame is
  /// sound.
  func learn(_ kind: UploadInput.Kind, of index: Int) {
    inputs[index].kind = kind
    pump.expectsPictures =
      inputs[0].kind == .unknown || inputs.contains(where: \.isPictures)
  }

  /// Lets streams that there is no room for wait in the ring.
  func rest(_ set: inout SubscriberSet, pictures isPictureResting: Bool) {
    let isSoundResting = pump.expectsPictures && pump.track.bufferedNs > Self.bufferNs
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind == .sound ? isSoundResting : isPictureResting)
    }
  }

  // MARK: Taking sound

  func expectSound(_ index: Int) {
    pump.track.expect(index, timeoutNs: Self.losslessTimeoutNs, nowNs: monotonicNowNs())
  }

  func takeSound(
    _ frame: HeldFrame, of index: Int, _ set: inout SubscriberSet
  ) throws(UploadError) {
    firstSoundNs = firstSoundNs ?? monotonicNowNs()
    if inputs[index].kind != .sound {
      learn(.sound, of: index)
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
    if let refusal = pump.take(frame, of: index, timeoutNs: timeoutNs) {
      report(.soundRefused(inputs[index].stream, refusal))
    }
  }

  // MARK: Sending sound

  /// Sends the completed chunks to the destination.
  func sendSound() throws(UploadError) {
    let before = pump.soundChunks
    try attempt { () throws(DestinationError) in try pump.sendSound() }
    if !pump.expectsPictures, pump.soundChunks > before,
      pump.soundChunks >= plan.frameLimit ?? .max
    {
      end = .limitReached
    }
  }

  /// When silence is due, if nothing else happens before.
  var soundWakeNs: UInt64? {
    pump.expectsSound ? monotonicNowNs() &+ SoundTrack.liveTimeoutNs / 3 : nil
  }

  /// After the pictures: sends their sound from lossless streams, and what others have now.
  func receiveLastSound(_ set: inout SubscriberSet) throws(UploadError) {
    if end == .stopped { return try sendSound() }
    end = nil
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind != .sound)
    }
    var isAwaited: Bool {
      inputs.contains { $0.kind == .sound && $0.isLossless && $0.member != nil }
    }
    while end == nil {
      let isWhole = pump.track.positionNs >= UInt64(clamping: pump.timeline.lastNs)
      let timeout = isAwaited && !isWhole ? Deadline.after(.seconds(2)) : .now
      guard try receive(&set, until: timeout) || (isAwaited && !timeout.isPast) else { break }
      try sendSound()
    }
    try sendSound()
  }

  // MARK: Streams that end

  func close(
    _ member: SubscriberSet.Member, _ reason: FinishReason, _ set: inout SubscriberSet
  ) throws(UploadError) {
    guard let index = inputs.firstIndex(where: { $0.member == member }) else { return }
    inputs[index].leave(&set)
    pump.track.end(index)
    if index == 0 || inputs[index].isPictures {
      end = reason == .failed ? .publisherFailed : .publisherFinished
    } else if end == nil {
      try attachOrSearch(index, &set)
    }
  }

  func soundFigures(_ set: borrowing SubscriberSet) -> SoundFigures? {
    guard pump.expectsSound || inputs[0].kind == .sound else { return nil }
    var figures = pump.soundFigures
    for input in inputs where input.kind == .sound { figures.drops += input.drops(in: set) }
    return figures
  }
}
