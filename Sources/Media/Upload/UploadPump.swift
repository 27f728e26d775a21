import FrameBus
import Platform
import Sound

/// The common part of an upload and of a broadcast's extension: pictures and sound go in, and leave
/// for the destination with their places on one timeline. A still picture is sent again.
///
/// It never waits for room: its owner decides which pictures are sent, and counts the others.
package struct UploadPump {
  /// The most chunks sent at a time: a long gap must delay neither pictures nor the stop signal.
  private static let chunksAtATime = 200
  /// The time without a new picture after which the newest is sent again: nothing is published
  /// while a screen stands still, and a player must not wait a whole second.
  private static let repeatAfterNs: UInt64 = 700_000_000
  /// The first repetition is stamped this much earlier, because a frame captured before now may
  /// still be in transit and must follow it.
  private static let marginNs: Int64 = 200_000_000

  package let destination: any Destination
  /// Whether there are or may be pictures; sound alone has its own timeline.
  package internal(set) var expectsPictures: Bool
  private(set) var expectsSound = false
  private(set) var timeline = Timeline()
  var track = SoundTrack()
  /// The newest picture, until it is released.
  private var newest: HeldFrame?
  private var sentNs: UInt64 = 0
  private var isRepeated = false
  private var statistics = UploadStatistics()
  private var rate = ByteRate()
  private var skew: SkewMeter?
  /// The maximum rate of pictures; nil for all of them. See ``offer(_:)``.
  package var framesPerSecond: Int?
  /// Whether the sound is silence.
  package var isMuted = false
  /// The newest picture, which arrived before the rate allows it.
  private var early: HeldFrame?
  private var nextPictureNs: UInt64 = 0
  /// Why a stream's sound cannot be used, by its number.
  private var refusals: [Int: SoundConverter.Refusal] = [:]

  package init(
    to destination: any Destination, expectsPictures: Bool = true, measuresSkew: Bool = false
  ) {
    self.destination = destination
    self.expectsPictures = expectsPictures
    skew = measuresSkew ? SkewMeter() : nil
  }

  package mutating func prepare(expectingSound: Bool) throws(DestinationError) {
    expectsSound = expectingSound
    if expectsSound {
      guard destination.takesSound else { throw .noSound(output: destination.output) }
      destination.expectSound()
    }
    try destination.prepare()
  }

  // MARK: Pictures

  /// Sends a picture for which there is room.
  /// - Parameters:
  ///   - metadata: replaces the frame's own.
  ///   - isRepeatable: false for a file's picture, whose own time stamps have no gaps.
  package mutating func send(
    _ frame: HeldFrame, _ metadata: FrameMetadata? = nil, isRepeatable: Bool = true
  ) throws(DestinationError) {
    let metadata = metadata ?? frame.lease.metadata
    let nowNs = monotonicNowNs()
    let ptsNs = timeline.place(
      ptsNs: metadata.ptsNs, capturedAtNs: metadata.capturedAtNs,
      generation: frame.lease.generation)
    skew?.see(frame.lease, atNs: ptsNs)
    try destination.accept(frame, ptsNs: ptsNs)
    statistics.countFrame(capturedAtNs: metadata.capturedAtNs, nowNs: nowNs)
    newest = isRepeatable && destination.wantsRepeatedFrames ? frame : nil
    (sentNs, isRepeated) = (nowNs, false)
    let intervalNs = framesPerSecond.map { 1_000_000_000 / UInt64(max(1, $0)) } ?? 0
    nextPictureNs = max(nextPictureNs &+ intervalNs, nowNs)
  }

  /// When the maximum rate allows the next picture, if it is not allowed now.
  var dueNs: UInt64? {
    framesPerSecond != nil && monotonicNowNs() < nextPictureNs ? nextPictureNs : nil
  }

  /// Sends a picture, or keeps it until the maximum rate allows it, in place of an earlier one.
  /// - Returns: false if there was no room for it.
  package mutating func offer(_ frame: HeldFrame) throws(DestinationError) -> Bool {
    early = frame
    return try sendEarly()
  }

  /// When the picture that was kept is due; nil without one.
  package var earlyAtNs: UInt64? { early == nil ? nil : nextPictureNs }

  /// Sends the picture that was kept, if it is due.
  /// - Returns: false if there was no room for it.
  @discardableResult
  package mutating func sendEarly() throws(DestinationError) -> Bool {
    guard let frame = early, dueNs == nil else { return true }
    early = nil
    guard try hasRoomNow() else { return false }
    try send(frame)
    return true
  }

  /// When the newest picture is due again; nil without one.
  package var repeatsAtNs: UInt64? { newest == nil ? nil : sentNs &+ Self.repeatAfterNs }

  /// Sends the newest picture again if no newer one came.
  /// - Returns: false if there was no room for it.
  @discardableResult
  package mutating func repeatIfStill() throws(DestinationError) -> Bool {
    let nowNs = monotonicNowNs()
    guard let dueNs = repeatsAtNs, nowNs >= dueNs, let newest else { return true }
    guard try hasRoomNow() else { return false }
    let elapsedNs = Int64(clamping: nowNs &- sentNs) &- (isRepeated ? 0 : Self.marginNs)
    (sentNs, isRepeated) = (nowNs, true)
    try destination.accept(newest, ptsNs: timeline.placeRepeated(afterNs: elapsedNs))
    if !destination.refusesPictures { statistics.countRepeatedFrame() }
    return true
  }

  package func hasRoomNow() throws(DestinationError) -> Bool {
    try destination.waitForRoom(until: .now, stop: nil)
  }

  /// Releases the newest picture.
  package mutating func release() { (newest, early) = (nil, nil) }

  // MARK: Sound

  /// The timeline that sound is aligned with; nil if there is sound alone.
  private var picturesTimeline: Timeline? { expectsPictures ? timeline : nil }

  /// Takes one frame's sound.
  /// - Parameter number: the number of its stream.
  /// - Returns: why it cannot be used, the first time that the stream has this reason.
  package mutating func take(
    _ sound: HeldFrame, of number: Int, timeoutNs: UInt64 = SoundTrack.liveTimeoutNs
  ) -> SoundConverter.Refusal? {
    var refusal: SoundConverter.Refusal?
    do throws(SoundConverter.Refusal) {
      try track.take(
        sound.lease, of: number, timeoutNs: timeoutNs, beside: picturesTimeline,
        nowNs: monotonicNowNs())
    } catch {
      refusal = error
    }
    defer { refusals[number] = refusal }
    return refusal == refusals[number] ? nil : refusal
  }

  /// Sends the completed chunks.
  package mutating func sendSound() throws(DestinationError) {
    for _ in 0..<Self.chunksAtATime {
      guard
        let placed = track.next(
          beside: picturesTimeline, fillsGaps: expectsSound, nowNs: monotonicNowNs())
      else { return }
      try send(placed)
    }
  }

  private mutating func send(_ placed: PlacedChunk) throws(DestinationError) {
    try destination.accept(isMuted ? .silence : placed.chunk, ptsNs: placed.ptsNs)
    skew?.measure(placed.chunk, atNs: placed.ptsNs)
    statistics.countSound()
  }

  /// Sends the sound up to the end of the pictures, and closes the destination, complete.
  package mutating func finish() throws(DestinationError) {
    while let placed = track.drain(beside: picturesTimeline) { try send(placed) }
    try destination.finish()
  }

  // MARK: Figures

  package var frames: Int { statistics.frames }
  /// Those that the destination did not lose.
  var sentFrames: Int { statistics.frames - destination.lostFrames }
  var soundChunks: Int { statistics.soundChunks }
  var firstArrivalNs: UInt64? { statistics.firstArrivalNs }

  /// The sound's figures, without drops.
  var soundFigures: SoundFigures {
    var figures = SoundFigures()
    figures.chunks = statistics.soundChunks
    figures.lateSampleFrames = track.lostCount
    figures.skewNs = skew?.skewNs
    return figures
  }

  mutating func progress(drops: UInt64, sound: SoundFigures?, nowNs: UInt64) -> UploadProgress {
    statistics.lostFrames = destination.lostFrames
    var progress = statistics.progress(
      drops: drops, sound: sound, byteCount: destination.byteCount, nowNs: nowNs)
    progress.network = destination.network
    progress.destinations = destination.parts
    return progress
  }

  /// Each destination, also if there is only one.
  package mutating func destinations() -> [DestinationFigures] {
    let parts = destination.parts
    if !parts.isEmpty { return parts }
    var whole = DestinationFigures(output: destination.output)
    whole.byteCount = destination.byteCount
    rate.take(whole.byteCount, nowNs: monotonicNowNs())
    whole.bitsPerSecond = rate.bitsPerSecond
    // A still picture is sent again each second.
    whole.state = whole.bitsPerSecond > 0 ? .delivering : .waiting
    whole.drops = destination.lostFrames
    whole.network = destination.network
    return [whole]
  }

  package mutating func summary(drops: UInt64, sound: SoundFigures? = nil) -> UploadProgress {
    statistics.lostFrames = destination.lostFrames
    var progress = statistics.summary(
      drops: drops, sound: sound, byteCount: destination.byteCount)
    progress.network = destination.network
    progress.destinations = destination.parts
    return progress
  }
}
