#if Media
  import Capture
  import FrameBus
  import Platform

  /// Publishes the pictures of a pipeline whose origin can be unplugged and come back, such as a
  /// camera. Meanwhile the stream is paused. Without subscribers the origin is closed.
  public struct ReturningSource<Origin: PictureOrigin>: FrameSource {
    private let name: String
    private var origin: Origin
    private let orientation: Orientation
    private let endsWhenLost: Bool
    private var isPaused = false

    /// - Parameters:
    ///   - name: in messages, such as `the camera`.
    ///   - endsWhenLost: whether an origin that comes back cannot be reached, as in a sandbox, so
    ///     that the capture must be started again.
    public init(
      _ name: String, _ origin: Origin, orientation: Orientation = .up, endsWhenLost: Bool = false
    ) {
      self.name = name
      self.origin = origin
      self.orientation = orientation
      self.endsWhenLost = endsWhenLost
    }

    public mutating func run(in session: CaptureSession) throws(PipelineError) {
      guard let format = try probe(in: session) else { return }
      let publisher = try PipelineRun.publisher(of: format, in: session)
      try session.drive(publisher) { (publisher) throws(PipelineError) in
        try publishAll(with: &publisher, in: session)
      }
    }

    private static var retryInterval: Duration { .milliseconds(500) }
    /// A pipeline that fails more often without a picture does not work.
    private static var maximumFailures: Int { 5 }

    private mutating func publishAll(
      with publisher: inout Publisher, in session: CaptureSession
    ) throws(PipelineError) {
      var failureCount = 0
      while session.waitForSubscriber(of: publisher) {
        let formerCount = session.publishedCount
        do throws(PipelineError) {
          try capture(with: &publisher, in: session)
        } catch {
          if session.publishedCount > formerCount { failureCount = 0 }
          guard error.mayPass, !endsWhenLost else { throw error }
          if case .origin = error {
          } else {
            failureCount += 1
            guard failureCount <= Self.maximumFailures else { throw error }
          }
          publisher.pause(.unavailable)
          if !isPaused {
            session.noticed?("the stream is paused until \(name) is back: \(error)")
          }
          isPaused = true
          repeat {
            guard session.sleep(until: .after(Self.retryInterval)) else { return }
          } while !origin.isPresent
        }
      }
    }

    /// One run of the pipeline: until the session is over, nobody subscribes any more, or the
    /// origin is lost.
    private mutating func capture(
      with publisher: inout Publisher, in session: CaptureSession
    ) throws(PipelineError) {
      var run = try begin(in: session)
      // The pipeline's threads end and their loans return before the publisher is used again.
      defer { run.stop() }
      guard let format = try run.firstFormat() else { return }
      do { try publisher.setFormat(format) } catch { throw .publishing(.publisher(error)) }
      publisher.resume()
      if isPaused { session.noticed?("\(name) is back") }
      isPaused = false
      try run.publishAll(with: &publisher)
    }

    /// - Returns: the format of the pictures; nil if the session is over.
    private mutating func probe(in session: CaptureSession) throws(PipelineError) -> FrameFormat? {
      var run = try begin(in: session)
      defer { run.stop() }
      return try run.firstFormat()
    }

    private mutating func begin(in session: CaptureSession) throws(PipelineError) -> PipelineRun {
      let opened: OpenOrigin
      do { opened = try origin.open() } catch { throw .origin(error) }
      let pipeline = try CapturePipeline(
        "\(opened.elements) ! \(PipelineSource.tail(nil))", texts: opened.texts, name: name)
      var run = PipelineRun(
        try SlotSink(pipeline, isFile: false, feed: opened.feed), name: name, isLive: true,
        rate: nil, session: session, sound: nil)
      run.orientation = orientation
      run.hasOwnTime = opened.feed != nil
      var watch = OriginWatch()
      watch.isPresent = { [origin] in origin.isPresent }
      run.watch = watch
      try run.start()
      return run
    }
  }

  /// Watches whether pictures still come, and whether anybody wants them.
  struct OriginWatch {
    var isPresent: () -> Bool = { true }
    /// How long the origin stays open without subscribers; nil for ever.
    var idleLimit: Duration? = .seconds(1)
    /// The errors of an origin that has ended, and of one without pictures. Nil for a stream that
    /// may end.
    var ended: PipelineError? = .origin(.absent("it has ended: connect it again"))
    var silent = PipelineError.origin(
      .absent("it delivers no pictures that can be shown: connect it again"))
    /// A silent origin may be gone, and one that is silent for longer does not work.
    private static let checkInterval = Duration.seconds(2)
    static let silenceLimit = Duration.seconds(10)
    private var idleAt = Deadline.never
    private var checkAt = Deadline.after(checkInterval)
    private var silentAt: Deadline

    /// - Parameter firstLimit: how long to wait for the first picture; nil for ever.
    init(firstLimit: Duration? = silenceLimit) {
      silentAt = firstLimit.map(Deadline.after) ?? .never
    }

    /// When to look again.
    var deadline: Deadline { min(idleAt, checkAt) }

    mutating func notePicture() {
      checkAt = .after(Self.checkInterval)
      silentAt = .after(Self.silenceLimit)
    }

    /// - Returns: whether nobody has subscribed for some time.
    mutating func isIdle(_ subscriberCount: Int) -> Bool {
      if subscriberCount > 0 {
        idleAt = .never
      } else if idleAt == .never {
        idleAt = idleLimit.map(Deadline.after) ?? .never
      }
      return idleAt.isPast
    }

    mutating func checkPictures() throws(PipelineError) {
      guard checkAt.isPast else { return }
      checkAt = .after(Self.checkInterval)
      if !isPresent() { throw .origin(.absent("it is gone: connect it again")) }
      if silentAt.isPast { throw silent }
    }
  }
#endif
