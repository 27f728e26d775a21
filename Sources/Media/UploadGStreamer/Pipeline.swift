#if Media
  import CGStreamer
  import FrameBus
  import Platform
  import Sound
  import Upload

  /// A running chain of elements after an appsrc. Frames are not copied; each is released on a
  /// GStreamer thread when the last element has released it.
  ///
  /// Confined to one thread; only `state` is shared with GStreamer's threads. Safe to use, because
  /// the handle is nil once the pipeline is destroyed.
  @safe final class Pipeline {
    /// How long the elements may take to process queued frames at the end.
    private static let endTimeout = Duration.seconds(20)

    let state = PipelineState()
    private let output: String
    private(set) var handle: OpaquePointer?
    private var bytesAtStop: UInt64 = 0
    private var addressAtStop: UInt = 0
    /// The newest timestamp that entered: of the frames, or of sound alone. A muxer holds back
    /// sound that is ahead of the frames.
    private var enteredNs: UInt64 = 0
    private var hasFrames = false

    /// - Parameter output: the name of the output in error messages.
    /// - Parameter fork: a branch from the tee among the elements to the one with a `soundPad`.
    /// - Parameter sound: a second branch, which ends at the element with a `soundPad`.
    /// - Parameter takesUnits: whether both branches are fed with units, which have their formats.
    init(
      _ elements: [ElementDescription], fork: [ElementDescription] = [],
      sound: [ElementDescription] = [], output: String, takesUnits: Bool = false
    ) throws(DestinationError) {
      self.output = output
      // SAFETY: `state` lives as long as this object, whose deinit destroys the pipeline first.
      unsafe handle = upload_pipeline_create(
        handleUploadEvent, Unmanaged.passUnretained(state).toOpaque())
      guard unsafe handle != nil else {
        throw .missingElement(
          ElementDescription.source.factory, package: ElementDescription.source.package)
      }
      for element in elements { try append(element) }
      guard let pad = elements.compactMap(\.soundPad).first else { return }
      if !fork.isEmpty { try append(fork, fromForkTo: pad) }
      if !sound.isEmpty {
        try append(sound, endingAt: pad)
        if !takesUnits { try setSoundCaps() }
      }
    }

    deinit { stop() }

    private func append(_ element: ElementDescription) throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`; the strings live during the calls.
      guard unsafe upload_pipeline_append(handle, element.factory) else {
        throw .elementFailed(
          element: element.factory, message: "it cannot be linked to the element before it",
          detail: "")
      }
      if element.soundPad != nil { unsafe upload_pipeline_mark_muxer(handle) }
      if element.factory == ElementDescription.turnUpright.factory {
        unsafe upload_pipeline_turn_upright(handle)
      }
      for property in element.properties {
        guard unsafe upload_pipeline_set(handle, property.name, property.value) else {
          throw Self.noProperty(property, of: element)
        }
      }
      for property in element.padProperties {
        guard unsafe upload_pipeline_set_on_pad(handle, property.name, property.value) else {
          throw Self.noProperty(property, of: element)
        }
      }
    }

    private func append(
      _ sound: [ElementDescription], endingAt pad: String
    ) throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      guard unsafe upload_pipeline_begin_sound(handle) else {
        throw .missingElement(
          ElementDescription.source.factory, package: ElementDescription.source.package)
      }
      for element in sound { try append(element) }
      guard unsafe upload_pipeline_join(handle, pad) else {
        throw .elementFailed(
          element: sound.last?.factory ?? "appsrc",
          message: "the container does not accept this sound",
          detail: "")
      }
    }

    private func append(
      _ fork: [ElementDescription], fromForkTo pad: String
    ) throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      unsafe upload_pipeline_begin_fork(handle)
      for element in fork { try append(element) }
      guard unsafe upload_pipeline_join(handle, pad) else {
        throw .elementFailed(
          element: fork.last?.factory ?? "tee", message: "the container has one track of pictures",
          detail: "")
      }
    }

    /// Sets the format of the sound that `push(_:ptsNs:)` sends.
    func setSoundCaps(
      _ caps: String = "audio/x-raw,format=F32LE,layout=interleaved,"
        + "rate=\(SoundChunk.sampleRate),channels=\(SoundChunk.channelCount)"
    ) throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      guard unsafe upload_pipeline_set_sound_caps(handle, caps) else {
        throw .elementFailed(element: "appsrc", message: "\(caps) is not a format", detail: "")
      }
    }

    private static func noProperty(
      _ property: ElementDescription.Property, of element: ElementDescription
    ) -> DestinationError {
      .elementFailed(
        element: element.factory, message: "this version has no property \(property.name)",
        detail: "")
    }

    func setCaps(_ caps: String) throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      guard unsafe upload_pipeline_set_caps(handle, caps) else {
        throw .elementFailed(element: "appsrc", message: "\(caps) is not a format", detail: "")
      }
    }

    /// Changes a property of a running element. Any thread may call it while the pipeline exists.
    /// - Parameter inFork: whether it is that of the second rendition.
    func set(
      _ property: ElementDescription.Property, of factory: String, inFork: Bool = false
    ) {
      // SAFETY: the pipeline exists until `stop`; the strings live during the call.
      _ = unsafe upload_pipeline_set_of(handle, factory, inFork, property.name, property.value)
    }

    /// Changes the size to which pictures are scaled, while it runs.
    func scale(to size: PictureSize, formatName: String) {
      let caps = ElementDescription.scaledCaps(
        formatName, width: size.width, height: size.height)
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      _ = unsafe upload_pipeline_scale_to(handle, caps)
    }

    /// Requests a key frame at the first picture of each interval of its time line. Before `play`.
    func requestKeyFrames(every intervalNs: UInt64, of encoder: String) {
      // SAFETY: the pipeline exists until `stop`; the string lives during the call.
      unsafe upload_pipeline_key_frame_every(handle, encoder, intervalNs)
    }

    func play() throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`.
      guard unsafe upload_pipeline_play(handle) else {
        try throwIfFailed()
        throw .elementFailed(element: "pipeline", message: "it does not start", detail: "")
      }
    }

    /// Waits until the pipeline has fewer than `limit` frames, and its output is not blocked on its
    /// first buffer: frames that wait for a connection would be old once it is established.
    func waitForRoom(
      below limit: Int, until deadline: Deadline, stop: StopSignal?
    ) throws(DestinationError) -> Bool {
      let hasRoom = state.wait(until: deadline, stop: stop) {
        $0.framesHeld < limit && $0.firstBuffer != .offered
      }
      try throwIfFailed()
      return hasRoom
    }

    /// - Parameter durationNs: the duration that a container writes for the last frame.
    func push(
      _ frame: HeldFrame, geometry: FrameGeometry, ptsNs: UInt64, durationNs: UInt64
    ) throws(DestinationError) {
      var description = unsafe upload_frame()
      unsafe describe(geometry, in: &description)
      unsafe description.ptsNs = ptsNs
      unsafe description.durationNs = durationNs
      unsafe description.orientation = UInt32(frame.lease.metadata.orientation.rawValue)
      noteEntry(ofSound: false, ptsNs)
      let entry = FrameEntry(frame, state)
      state.frameEntered()
      // SAFETY: `entry` keeps the lease, and with it the slot and its mapping, until `release`.
      unsafe description.context = Unmanaged.passRetained(entry).toOpaque()
      unsafe description.release = releaseUploadFrame
      let isTaken = unsafe geometry.formatName.withCString { name in
        unsafe description.format = name
        return unsafe frame.lease.withUnsafeBytes { bytes in
          unsafe description.bytes = UnsafeRawPointer(bytes.baseAddress)
          unsafe description.byteCount = bytes.count
          return unsafe upload_pipeline_push(handle, &description)
        }
      }
      guard isTaken else {
        try throwIfFailed()
        throw .elementFailed(element: "appsrc", message: "it accepts no more frames", detail: "")
      }
    }

    func push(_ sound: SoundChunk, ptsNs: UInt64) throws(DestinationError) {
      try push([sound], ptsNs: ptsNs)
    }

    /// - Parameter sound: without gaps.
    func push(_ sound: [SoundChunk], ptsNs: UInt64) throws(DestinationError) {
      // An appsrc goes on taking buffers after a failure, and sound waits for no room.
      try throwIfFailed()
      noteEntry(ofSound: true, ptsNs)
      let samples = sound.count == 1 ? sound[0].samples : sound.flatMap(\.samples)
      let durationNs = UInt64(sound.count) * SoundChunk.durationNs
      // SAFETY: the pipeline exists until `stop`, and copies the samples during the call.
      let isTaken = unsafe samples.withUnsafeBytes { bytes in
        unsafe upload_pipeline_push_sound(
          handle, bytes.baseAddress, bytes.count, ptsNs, durationNs)
      }
      guard isTaken else {
        try throwIfFailed()
        throw .elementFailed(element: "appsrc", message: "it accepts no more sound", detail: "")
      }
    }

    private func noteEntry(ofSound isSound: Bool, _ ptsNs: UInt64) {
      if isSound, hasFrames { return }
      let isFirstFrame = !isSound && !hasFrames
      enteredNs = isFirstFrame ? ptsNs : max(enteredNs, ptsNs)
      if isFirstFrame { hasFrames = true }
    }

    /// Sends what another pipeline has encoded. Only `backlogNs` says how much waits.
    func push(_ unit: KeptUnit, ptsNs: UInt64) throws(DestinationError) {
      try throwIfFailed()
      noteEntry(ofSound: unit.isSound, ptsNs)
      // SAFETY: the pipeline exists until `stop`, and keeps a reference of its own to the unit.
      let isTaken = unsafe upload_pipeline_push_sample(
        handle, unit.isSound, unit.sample, ptsNs, unit.beginsSegment)
      guard isTaken else {
        try throwIfFailed()
        throw .elementFailed(element: "appsrc", message: "it accepts no more units", detail: "")
      }
    }

    private func describe(_ geometry: FrameGeometry, in frame: inout upload_frame) {
      unsafe frame.width = UInt32(geometry.width)
      unsafe frame.height = UInt32(geometry.height)
      unsafe frame.planeCount = UInt32(geometry.planes.count)
      // SAFETY: Swift imports C arrays of 4 as tuples of 4; a format has at most 4 planes.
      unsafe withUnsafeMutableBytes(of: &frame.offsets) { bytes in
        let offsets = unsafe bytes.bindMemory(to: Int.self)
        for (index, plane) in geometry.planes.enumerated() { unsafe offsets[index] = plane.offset }
      }
      unsafe withUnsafeMutableBytes(of: &frame.strides) { bytes in
        let strides = unsafe bytes.bindMemory(to: Int32.self)
        for (index, plane) in geometry.planes.enumerated() {
          unsafe strides[index] = Int32(plane.stride)
        }
      }
    }

    /// Ends the stream, and waits until the elements have processed all queued data.
    func finish() throws(DestinationError) {
      // SAFETY: the pipeline exists until `stop`.
      unsafe upload_pipeline_end(handle)
      let isDone = state.wait(until: .after(Self.endTimeout), stop: nil) { $0.isEnded }
      try throwIfFailed()
      stop()
      if !isDone { throw .stalled(output: output) }
    }

    /// Stops GStreamer's threads and releases every frame. Idempotent.
    func stop() {
      guard let running = unsafe handle else { return }
      bytesAtStop = bytesWritten
      addressAtStop = entryAddress
      unsafe handle = nil
      // SAFETY: the stored handle is nil, so nothing can use the pipeline after this call.
      unsafe upload_pipeline_destroy(running)
    }

    var bytesWritten: UInt64 {
      // SAFETY: the pipeline exists until `stop`, after which the handle is nil.
      unsafe handle.map { unsafe upload_pipeline_bytes_written($0) } ?? bytesAtStop
    }

    /// The number of buffers that have reached the last element; 0 after `stop`.
    var buffersWritten: UInt64 {
      // SAFETY: as above.
      unsafe handle.map { unsafe upload_pipeline_buffers_written($0) } ?? 0
    }

    /// How much of the frames that entered, or of sound alone, has not reached the last element.
    var backlogNs: UInt64 {
      // SAFETY: as above.
      let leftNs = unsafe handle.map { unsafe upload_pipeline_newest_ns($0) } ?? enteredNs
      return enteredNs > leftNs ? enteredNs - leftNs : 0
    }

    /// The connection of a network sink that has taken its first buffer; nil if it is unknown.
    var link: upload_link? {
      var link = upload_link()
      // SAFETY: as above.
      guard let handle = unsafe handle, unsafe upload_pipeline_link(handle, &link) else {
        return nil
      }
      return link
    }

    /// Limits what waits in the kernel for a slow connection.
    func boundQueue() {
      // SAFETY: as above. Nothing waits in the kernel of a sink without a TCP connection.
      if let handle = unsafe handle { _ = unsafe upload_pipeline_bound_queue(handle) }
    }

    /// The address of the newest frame when it entered the first element, to check that it is a
    /// slot.
    var entryAddress: UInt {
      // SAFETY: as above.
      unsafe handle.map { unsafe upload_pipeline_entry_address($0) } ?? addressAtStop
    }

    private func throwIfFailed() throws(DestinationError) {
      guard let failure = state.failure else { return }
      switch failure.kind {
      case .noSpace: throw .diskFull(path: output, freeBytes: 0)
      case .cannotOpen, .failed:
        throw .elementFailed(
          element: failure.element, message: failure.message, detail: failure.detail)
      }
    }
  }

  /// A frame in a pipeline.
  private final class FrameEntry: Sendable {
    private let frame: HeldFrame
    let state: PipelineState

    init(_ frame: HeldFrame, _ state: PipelineState) {
      self.frame = frame
      self.state = state
    }
  }

  /// Called by GStreamer, on any of its threads, when no element needs the frame any longer.
  /// SAFETY: `context` is the `FrameEntry` that `push` retained for exactly this call.
  private func releaseUploadFrame(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    let entry = unsafe Unmanaged<FrameEntry>.fromOpaque(context)
    let state = unsafe entry.takeUnretainedValue().state
    // The slot is released first, because a thread that sees room may take another frame at once.
    unsafe entry.release()
    state.frameReleased()
  }
#endif
