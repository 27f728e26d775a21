#if Media
  import FrameBus
  import Platform
  import Sound
  import Synchronization
  import Upload

  /// Several destinations of one upload. Each medium is encoded once, and each destination receives
  /// it on a thread of its own: one that is slow, fails or comes back disturbs no other.
  ///
  /// The encoder has what all of them need: H.264 without B frames, a key frame every two seconds
  /// (half a second for a replay) and on request, and the lowest bitrate that a destination's
  /// network allows. Sound is encoded in as few formats as they allow: Opus, AAC or both.
  public final class SharedDestination: Destination {
    public let heldFrames = 2
    public let wantsRepeatedFrames = true
    public let takesSound = true
    /// The shortest time between requested key frames, because they are large.
    private static let keyFrameNs: UInt64 = 500_000_000
    /// The slowest destination lowers the bitrate of all to a quarter of the requested one at most.
    static let leastShare = 4
    /// How long the destinations may take to become complete, one longer than each may.
    private static let endTimeout = Duration.seconds(25)

    private var encoder: any LiveEncoder
    private let profile: H264Profile
    private var settings: EncoderSettings
    private let branches = Branches()
    /// Nil before the first picture or sound.
    private var hasPictures: Bool?
    private var hasBegun: Bool { hasPictures != nil }
    private let onEnd: @Sendable (String, DestinationError) -> Void
    private var hasSound = false
    private var pictures: Pictures?
    private var sounds: [SoundEncoder: SoundFeed] = [:]
    private var keyFrameAtNs: UInt64 = 0
    private var bitsPerSecond = 0

    private struct Pictures {
      let feed: Feed
      let rate: FrameRate
      var format: FrameFormat
      var geometry: FrameGeometry
      let size: PixelRect
    }

    /// - Parameters:
    ///   - members: of kinds that take encoded media.
    ///   - profile: one that every destination's players decode.
    ///   - onEnd: called on any thread when one of them has failed, and the others go on.
    public init(
      _ members: [any Destination], encoder: EncoderSettings, profile: H264Profile,
      onEnd: @escaping @Sendable (String, DestinationError) -> Void = { _, _ in }
    ) throws(DestinationError) {
      settings = encoder
      self.onEnd = onEnd
      self.profile = profile
      self.encoder = try LiveEncoders.make(encoder, profile: profile, codecs: [.h264])
      for member in members { _ = try branch(member, beside: members) }
    }

    private func branch(
      _ member: any Destination, beside others: [any Destination]
    ) throws(DestinationError) -> Branch {
      let output = member.output
      guard let member = member as? any UnitDestination, !member.needsOwnEncoder else {
        throw .notShared(output: output)
      }
      guard !branches.all.contains(where: { $0.output == output && !$0.hasEnded }) else {
        throw .namedTwice(output: output)
      }
      let sound = Self.soundEncoder(of: member, beside: others)
      let branch = Branch(member, sound: sound) { [onEnd] error in onEnd(output, error) }
      branches.append(branch)
      return branch
    }

    /// The format of a live peer that takes no other, so that sound is encoded once; the preferred
    /// format if that is encoded anyway.
    private static func soundEncoder(
      of member: any UnitDestination, beside others: [any Destination]
    ) -> SoundEncoder {
      let others = others.compactMap { $0 as? any UnitDestination }
      let preferred = member.soundEncoders[0]
      let needed = member.soundEncoders.first { format in
        others.contains {
          $0.soundEncoders == [format] && ($0.connects || format == preferred)
        }
      }
      return needed ?? preferred
    }

    // MARK: While it runs

    /// Adds a destination, which begins with the next key frame. Called by the upload's thread.
    public func add(_ member: any Destination) throws(DestinationError) {
      let others = branches.all.filter { !$0.hasEnded && !$0.isRemoved }
      let branch = try branch(member, beside: others.map(\.destination))
      do throws(DestinationError) {
        if hasSound { member.expectSound() }
        try GStreamerRuntime.require(hasSound ? branch.soundEncoder.elements : [])
        try member.prepare()
        branch.demand.wantedBitsPerSecond = wantedBitsPerSecond
        if let hasPictures { try branch.start(withPictures: hasPictures) }
      } catch {
        branches.remove(branch)
        throw error
      }
    }

    /// Completes a destination, and goes on without it.
    /// - Returns: false if there is none of this name.
    public func remove(_ output: String) -> Bool {
      guard let branch = branches.all.first(where: { $0.output == output && !$0.hasEnded }) else {
        return false
      }
      // One that has not begun has nothing to complete.
      if hasBegun { branch.end() } else { branches.remove(branch) }
      return true
    }

    deinit { abandon() }

    public var output: String { branches.all.map(\.output).joined(separator: ", ") }
    /// Those that were encoded.
    public var byteCount: UInt64 {
      let sound = sounds.values.map(\.feed.pipeline.bytesWritten).reduce(0, +)
      return sound + (pictures?.feed.pipeline.bytesWritten ?? 0)
    }
    public var parts: [DestinationFigures] { branches.all.map(\.figures) }
    private var soundFormats: Set<SoundEncoder> {
      Set(branches.all.filter { !$0.hasEnded }.map(\.soundEncoder))
    }

    public func expectSound() {
      hasSound = true
      for branch in branches.all { branch.destination.expectSound() }
    }

    public func prepare() throws(DestinationError) {
      try GStreamerRuntime.start()
      encoder = try LiveEncoders.make(settings, profile: profile, codecs: [.h264])
      try GStreamerRuntime.require(
        [.source, .unitEnd] + chain(width: 0, height: 0, rate: .variable)
          + (hasSound ? soundFormats.flatMap(\.elements) : []))
      for branch in branches.all { try branch.destination.prepare() }
    }

    public func waitForRoom(
      until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      try throwIfAllHaveFailed()
      guard let pipeline = pictures?.feed.pipeline else { return true }
      return try pipeline.waitForRoom(below: heldFrames, until: deadline, stop: stop)
    }

    private func throwIfAllHaveFailed() throws(DestinationError) {
      let parts = branches.all.filter { !$0.isRemoved }
      if parts.allSatisfy(\.hasEnded), let error = parts.compactMap(\.figures.error).last {
        throw error
      }
    }

    // MARK: Media

    public func accept(_ frame: HeldFrame, ptsNs: UInt64) throws(DestinationError) {
      // The operator ?? would lose the type of the error.
      var pictures = if let started = self.pictures { started } else { try start(frame.lease) }
      if frame.lease.format != pictures.format {
        pictures.format = frame.lease.format
        pictures.geometry = try FrameGeometry(
          evenPartOf: frame.lease.format, within: encoder.limits)
        try pictures.feed.pipeline.setCaps(pictures.geometry.caps(rate: pictures.rate))
      }
      self.pictures = pictures
      let capturedAtNs = frame.lease.metadata.capturedAtNs
      for branch in branches.all { branch.demand.note(capturedAtNs, ptsNs: ptsNs) }
      meetDemands(pictures)
      let shownNs = frame.lease.metadata.durationNs
      try pictures.feed.pipeline.push(
        frame, geometry: pictures.geometry, ptsNs: ptsNs,
        durationNs: shownNs > 0 ? shownNs : pictures.format.assumedFrameNs)
    }

    public func accept(_ chunk: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      try throwIfAllHaveFailed()
      if !hasBegun { try startBranches(withPictures: false) }
      for format in soundFormats {
        let feed = if let started = sounds[format] { started } else { try startSound(format) }
        let delayNs = format.unreportedDelayNs
        guard ptsNs >= delayNs else { continue }
        try feed.accept(chunk, ptsNs: ptsNs - delayNs, batchNs: batchNs(of: format))
      }
    }

    private func batchNs(of format: SoundEncoder) -> UInt64 {
      let takers = branches.all.filter { !$0.hasEnded && $0.soundEncoder == format }
      return takers.allSatisfy(\.takesBatches)
        ? SoundFeed.longestBatchNs : SoundFeed.shortestBatchNs
    }

    private func start(_ frame: borrowing FrameLease) throws(DestinationError) -> Pictures {
      if hasBegun { throw .noPictures(output: output) }
      let format = frame.format
      let geometry = try FrameGeometry(evenPartOf: format, within: encoder.limits)
      let size = geometry.upright(frame.metadata.orientation)
      let pipeline = try Pipeline(
        chain(width: size.width, height: size.height, rate: format.plannedRate) + [.unitEnd],
        output: output)
      try pipeline.setCaps(geometry.caps(rate: format.plannedRate))
      for property in encoder.keyFramesOnRequest {
        pipeline.set(property, of: encoder.factory)
      }
      let keyFrameNs = branches.all.map(\.destination.keyFrameNs).min() ?? HLSOutlet.segmentNs
      pipeline.requestKeyFrames(every: keyFrameNs, of: encoder.factory)
      bitsPerSecond = settings.bitsPerSecond(width: size.width, height: size.height)
      for branch in branches.all { branch.demand.wantedBitsPerSecond = bitsPerSecond }
      try startBranches(withPictures: true)
      let cuts = SegmentGrid()
      let feed = try Feed(pipeline, originNs: 0) { [branches] unit in
        let begins = unit.isKeyFrame && cuts.begins(at: unit.timeNs)
        if let kept = KeptUnit(unit, sound: nil, beginsSegment: begins) { branches.take(kept) }
      }
      try pipeline.play()
      return Pictures(
        feed: feed, rate: format.plannedRate, format: format, geometry: geometry, size: size)
    }

    private func startSound(_ format: SoundEncoder) throws(DestinationError) -> SoundFeed {
      let pipeline = try Pipeline(format.sharedElements + [.unitEnd], output: output)
      try pipeline.setSoundCaps()
      let feed = try Feed(pipeline, originNs: 0) { [branches] unit in
        if let kept = KeptUnit(unit, sound: format) { branches.take(kept) }
      }
      try pipeline.play()
      let sound = SoundFeed(feed)
      sounds[format] = sound
      return sound
    }

    private func startBranches(withPictures: Bool) throws(DestinationError) {
      hasPictures = withPictures
      for branch in branches.all { try branch.start(withPictures: withPictures) }
    }

    private func chain(width: Int, height: Int, rate: FrameRate) -> [ElementDescription] {
      ElementDescription.scaled(to: encoder.inputFormatName, width: width, height: height)
        + encoder.encoding(width: width, height: height, rate: rate)
        + [.onlyCaps(encoder.unitCaps)]
    }

    // MARK: What the destinations ask for

    private func meetDemands(_ pictures: Pictures) {
      let demands = branches.all.map(\.demand)
      let wanted = wantedBitsPerSecond
      // A destination that is slower still drops pictures, instead of spoiling those of all.
      let allowed = min(
        wanted,
        max(wanted / Self.leastShare, demands.compactMap(\.mostBitsPerSecond).min() ?? wanted))
      for demand in demands {
        (demand.wantedBitsPerSecond, demand.bitsPerSecond) = (wanted, allowed)
      }
      if allowed != bitsPerSecond {
        bitsPerSecond = allowed
        pictures.feed.pipeline.set(encoder.bitrate(allowed), of: encoder.factory)
      }
      let nowNs = monotonicNowNs()
      guard nowNs >= keyFrameAtNs &+ Self.keyFrameNs else { return }
      // Every request is taken, since one key frame serves them all.
      let requests = demands.filter { $0.takeKeyFrameRequest() }
      if requests.isEmpty { return }
      keyFrameAtNs = nowNs
      pictures.feed.requestKeyFrame()
    }

    private var wantedBitsPerSecond: Int {
      settings.bitsPerSecond(
        width: pictures?.size.width ?? 0, height: pictures?.size.height ?? 0)
    }

    public func use(bitsPerSecond: Int?) { settings.bitsPerSecond = bitsPerSecond }

    // MARK: The end

    public func finish() throws(DestinationError) {
      // All units reach the branches before these end.
      try pictures?.feed.pipeline.finish()
      for sound in sounds.values { try sound.finish() }
      let all = branches.all
      for branch in all { branch.end() }
      let deadline = Deadline.after(Self.endTimeout)
      for branch in all where !branch.waitForEnd(until: deadline) {
        throw .stalled(output: branch.output)
      }
    }

    public func abandon() {
      pictures?.feed.pipeline.stop()
      for sound in sounds.values { sound.feed.pipeline.stop() }
      let all = branches.all
      for branch in all { branch.abandon() }
      let deadline = Deadline.after(Self.endTimeout)
      for branch in all { _ = branch.waitForEnd(until: deadline) }
    }
  }

  /// The branches that units go to. Encoders' threads read it.
  private final class Branches: Sendable {
    private let list = Mutex<[Branch]>([])

    var all: [Branch] { list.withLock { $0 } }
    /// In place of one that has ended.
    func append(_ branch: Branch) {
      list.withLock { list in
        list.removeAll { $0.output == branch.output && $0.hasEnded }
        list.append(branch)
      }
    }
    func remove(_ branch: Branch) { list.withLock { $0.removeAll { $0 === branch } } }
    func take(_ unit: KeptUnit) {
      for branch in all where unit.sound == nil || unit.sound == branch.soundEncoder {
        branch.take(unit)
      }
    }
  }

  /// The places where segments begin: the same for all destinations.
  private final class SegmentGrid: Sendable {
    private let newest = Mutex<UInt64?>(nil)

    /// Whether this key frame is the first of its interval.
    func begins(at timeNs: UInt64) -> Bool {
      let number = timeNs / HLSOutlet.segmentNs
      return newest.withLock { newest in
        defer { newest = number }
        return number != newest
      }
    }
  }

  extension ElementDescription {
    /// Passes encoded units to their handler.
    fileprivate static let unitEnd = ElementDescription(
      factory: "appsink", package: "gstreamer1.0-plugins-base")
  }
#endif
