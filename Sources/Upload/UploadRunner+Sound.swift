import FrameBus
import Platform
import Sound

extension UploadRunner {
  /// A live stream of sound that says nothing for so long has fallen silent.
  private static let livePatienceNs: UInt64 = 300_000_000
  /// Where nothing may be missing, sound is waited for as long as the publisher waits for us.
  private static let losslessPatienceNs: UInt64 = 10_000_000_000
  /// Silence stays so far behind the pictures, so that sound that is on its way finds its place.
  private static let silenceMarginNs: Int64 = 300_000_000
  /// Sound runs ahead of the pictures at most so far, and waits on the bus beyond.
  private static let leadNs: UInt64 = 1_000_000_000
  private static let bufferNs: UInt64 = 2_000_000_000
  /// So many frames of sound wait for the first picture, and so many samples in all.
  private static let earlyCount = 400
  private static let earlySampleCount = 20 * SoundChunk.sampleRate
  /// So much is sent at a time: in between, a signal to stop is heard.
  private static let chunksAtATime = 200

  var expectsSound: Bool { plan.streams.count > 1 }

  /// Whether there are pictures, or may be: the first stream is taken to have them until it shows
  /// that it has sound.
  private var expectsPictures: Bool {
    inputs[0].kind == .unknown || inputs.contains(where: \.isPictures)
  }

  /// Lets streams wait on the bus that there is no room for.
  func rest(_ set: inout SubscriberSet, pictures isPictureResting: Bool) {
    let isSoundResting = expectsPictures && mixer.bufferedNs > Self.bufferNs
    for input in inputs {
      guard let member = input.member else { continue }
      set.setResting(member, input.kind == .sound ? isSoundResting : isPictureResting)
    }
  }

  // MARK: Taking sound

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
    guard let samples = convert(frame, of: index) else { return }
    let metadata = frame.lease.metadata
    let sound = EarlySound(
      input: index, samples: samples, ptsNs: metadata.ptsNs,
      capturedAtNs: metadata.capturedAtNs, generation: frame.lease.generation)
    if add(sound) { return }
    earlySound.append(sound)
    var sampleCount = earlySound.reduce(0) { $0 + $1.samples.count }
    while earlySound.count > Self.earlyCount || sampleCount > Self.earlySampleCount {
      sampleCount -= earlySound.removeFirst().samples.count
    }
  }

  /// - Returns: nil if the stream's format cannot be used, which is said once.
  private func convert(_ frame: HeldFrame, of index: Int) -> [Float]? {
    if frame.lease.metadata.flags.contains(.discontinuity) { inputs[index].converter.restart() }
    do throws(SoundConverter.Refusal) {
      let samples = try inputs[index].converter.convert(frame.lease)
      inputs[index].refusal = nil
      return samples
    } catch {
      if inputs[index].refusal != error { report(.soundRefused(inputs[index].stream, error)) }
      inputs[index].refusal = error
      return nil
    }
  }

  /// Puts sound into its place.
  /// - Returns: false if that is not known before the first picture.
  private func add(_ sound: EarlySound) -> Bool {
    guard let place = place(of: sound) else { return false }
    let nowNs = monotonicNowNs()
    let source = inputs[sound.input].source ?? newSource(sound.input, nowNs)
    let (atNs, isOverflown) = sound.ptsNs.addingReportingOverflow(place.offsetNs)
    if !isOverflown { mixer.add(sound.samples, atNs: atNs, from: source, nowNs: nowNs) }
    return true
  }

  private func newSource(_ index: Int, _ nowNs: UInt64) -> SoundMixer.Source {
    let patienceNs = inputs[index].isLossless ? Self.losslessPatienceNs : Self.livePatienceNs
    let source = mixer.addSource(patienceNs: patienceNs, nowNs: nowNs)
    inputs[index].source = source
    return source
  }

  private func place(of sound: EarlySound) -> SoundPlace? {
    if let place = inputs[sound.input].place, place.generation == sound.generation,
      place.picturesGeneration == timeline.generation
    {
      return place
    }
    var offsetNs = timeline.soundOffsetNs(
      ptsNs: sound.ptsNs, capturedAtNs: sound.capturedAtNs)
    if offsetNs == nil, !expectsPictures {
      // Sound alone begins with its first sample; what else is heard has the same clock.
      offsetNs = inputs.lazy.compactMap(\.place?.offsetNs).first ?? (0 &- sound.ptsNs)
    }
    guard let offsetNs else { return nil }
    let place = SoundPlace(
      offsetNs: offsetNs, generation: sound.generation, picturesGeneration: timeline.generation)
    inputs[sound.input].place = place
    return place
  }

  // MARK: Sending sound

  /// Gives the destination what is complete.
  func sendSound() throws(UploadError) {
    if !earlySound.isEmpty, timeline.generation != nil || !expectsPictures {
      for sound in earlySound { _ = add(sound) }
      earlySound = []
    }
    let hasPictures = timeline.generation != nil
    guard hasPictures || !expectsPictures else { return }
    let pictureNs = hasPictures ? timeline.lastNs : .min
    let silentUntilNs = hasPictures && expectsSound ? pictureNs &- Self.silenceMarginNs : .min
    let untilNs = hasPictures ? UInt64(clamping: pictureNs) + Self.leadNs : .max
    for _ in 0..<Self.chunksAtATime {
      guard mixer.positionNs < untilNs,
        let placed = mixer.next(nowNs: monotonicNowNs(), silentUntilNs: silentUntilNs)
      else { return }
      try send(placed)
    }
  }

  /// When silence is due, should nothing else happen before.
  var soundWakeNs: UInt64? {
    expectsSound ? monotonicNowNs() &+ Self.livePatienceNs / 3 : nil
  }

  /// What still belongs to the pictures, when they have ended.
  func sendLastSound(_ set: inout SubscriberSet) throws(UploadError) {
    let ending = end
    if ending != .stopped { try receiveLastSound(&set) }
    end = ending
    try sendSound()
    let endNs = timeline.generation == nil ? UInt64.max : UInt64(clamping: timeline.lastNs)
    while mixer.positionNs < endNs, let placed = mixer.drain() { try send(placed) }
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
      let isWhole = mixer.positionNs >= UInt64(clamping: timeline.lastNs)
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
    if inputs[index].kind == .sound {
      if let source = inputs[index].source { mixer.removeSource(source) }
      (inputs[index].source, inputs[index].place) = (nil, nil)
    }
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
    figures.lateSampleFrames = mixer.lostCount
    figures.skewNs = skew?.skewNs
    return figures
  }
}
