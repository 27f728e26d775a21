import AppGroup
import FrameBus
import Platform
import Synchronization

/// The settings of one run of a source, and its figures so far.
///
/// The source updates it from its own thread; any thread may read the figures.
public final class CaptureSession: Sendable {
  /// The group.
  public let group: AppGroup
  /// The name of the stream.
  public let stream: StreamName
  private let givenSoundKind: FrameFormat.Kind?
  /// Ends the run when it is raised.
  public let stop: StopSignal
  /// The moment at which the run ends by itself.
  public let deadline: Deadline
  /// The number of frames after which the run ends by itself; nil for no limit.
  public let frameLimit: UInt64?
  /// Called when the stream starts, changes or ends.
  public let streamChanged: (@Sendable (StreamChange) -> Void)?
  /// Called when sound is switched off or on.
  public let soundSwitched: (@Sendable (FrameFormat.Kind, _ isOn: Bool) -> Void)?
  /// Called once with the format of the source's sound, before its first sound.
  public let soundFormatKnown: (@Sendable (AudioFormat) -> Void)?
  /// Called when the sound server has muted the source, or no longer mutes it.
  public let soundMuted: (@Sendable (SoundMute) -> Void)?
  /// Called with what the user should know of the capture.
  public let noticed: (@Sendable (String) -> Void)?
  /// Called when another application becomes the front application; must not block.
  private let frontChanged: (@Sendable (ApplicationID?) -> Void)?
  /// When the run began, on `CLOCK_MONOTONIC`.
  public let startedAtNs = monotonicNowNs()

  private let front = Mutex(Front())
  private struct Front {
    var application: ApplicationID?
    /// That of the running publisher.
    var annotation: StreamAnnotation?
  }

  private let published = Atomic<UInt64>(0)
  private let missedDeadlines = Atomic<UInt64>(0)
  private let unchanged = Atomic<UInt64>(0)
  private let copied = Atomic<UInt64>(0)
  private let subscribers = Atomic<Int>(0)
  private let isFormatKnown = Atomic<Bool>(false)
  private let mute = Mutex(SoundMute.nothing)

  package init(
    group: AppGroup, stream: StreamName, soundKind: FrameFormat.Kind? = nil, stop: StopSignal,
    frameLimit: UInt64? = nil,
    duration: Duration? = nil, streamChanged: (@Sendable (StreamChange) -> Void)? = nil,
    soundSwitched: (@Sendable (FrameFormat.Kind, _ isOn: Bool) -> Void)? = nil,
    soundFormatKnown: (@Sendable (AudioFormat) -> Void)? = nil,
    soundMuted: (@Sendable (SoundMute) -> Void)? = nil,
    noticed: (@Sendable (String) -> Void)? = nil,
    frontChanged: (@Sendable (ApplicationID?) -> Void)? = nil
  ) {
    self.group = group
    self.stream = stream
    givenSoundKind = soundKind
    self.stop = stop
    self.frameLimit = frameLimit
    self.streamChanged = streamChanged
    self.soundSwitched = soundSwitched
    self.soundFormatKnown = soundFormatKnown
    self.soundMuted = soundMuted
    self.noticed = noticed
    self.frontChanged = frontChanged
    deadline = duration.map(Deadline.after) ?? .never
  }

  /// Whether the source must end now: stopped, past its deadline, or at its frame limit.
  public var isOver: Bool {
    stop.isRaised || deadline.isPast || frameLimit.map { publishedCount >= $0 } ?? false
  }

  /// The kind of sound that is published, which decides the switch that turns it off: the kind
  /// given to the session, else the one that the source knows, else the one that the stream's
  /// name implies.
  package func soundKind(knownAs known: FrameFormat.Kind? = nil) -> FrameFormat.Kind {
    let isNamedMicrophone = stream.text == SoundDevice.microphone.usualStream
    return givenSoundKind ?? known ?? (isNamedMicrophone ? .micAudio : .appAudio)
  }

  /// The reason that subscribers receive when the source ends without an error.
  public var finishReason: FinishReason { stop.isRaised ? .stopped : .ended }

  /// The number of published frames.
  public var publishedCount: UInt64 { published.load(ordering: .relaxed) }

  /// The counts so far.
  public var figures: CaptureFigures {
    // Relaxed: one writer; readers only want statistics.
    CaptureFigures(
      frames: publishedCount,
      elapsedNs: monotonicNowNs() - startedAtNs,
      missedDeadlines: missedDeadlines.load(ordering: .relaxed),
      unchanged: unchanged.load(ordering: .relaxed),
      copied: copied.load(ordering: .relaxed),
      subscribers: subscribers.load(ordering: .relaxed))
  }

  /// Counts one published frame. `isCopy`: it was copied into its slot.
  package func countFrame(isCopy: Bool = false) {
    published.wrappingAdd(1, ordering: .relaxed)
    if isCopy { copied.wrappingAdd(1, ordering: .relaxed) }
  }
  /// Counts a poll of the source that found nothing new to publish.
  package func countUnchanged() { unchanged.wrappingAdd(1, ordering: .relaxed) }
  package func countMissedDeadlines(_ count: UInt64) {
    missedDeadlines.wrappingAdd(count, ordering: .relaxed)
  }
  package func noteSubscribers(_ count: Int) { subscribers.store(count, ordering: .relaxed) }

  /// Another application is in front of the source. Annotates the stream, unless the session's
  /// owner does.
  package func tellFront(_ application: ApplicationID?) {
    guard let frontChanged else { return annotate(application) }
    frontChanged(application)
  }

  /// Names the application that the stream shows, now and if its publisher restarts. Any thread may
  /// call it.
  package func annotate(_ application: ApplicationID?) {
    front.withLock { front in
      front.application = application
      front.annotation?.application = application
    }
  }

  private func annotate(by annotation: StreamAnnotation?) {
    front.withLock { front in
      front.annotation = annotation
      annotation?.application = front.application
    }
  }

  /// Reports the format of the first sound; later formats are not reported.
  package func noteSoundFormat(_ format: AudioFormat) {
    // Relaxed: only says whether the call was made.
    if !isFormatKnown.exchange(true, ordering: .relaxed) { soundFormatKnown?(format) }
  }

  /// Reports changes only.
  package func noteSoundMute(_ now: SoundMute) {
    let isChange = mute.withLock { mute in
      defer { mute = now }
      return mute != now
    }
    if isChange { soundMuted?(now) }
  }

  /// Runs a source's publishing loop, and finishes the publisher whether or not it throws.
  package func drive<Failure: Error>(
    _ publisher: consuming Publisher, _ body: (inout Publisher) throws(Failure) -> Void
  ) throws(Failure) {
    var publisher = publisher
    annotate(by: publisher.annotation)
    defer { annotate(by: nil) }
    do {
      try body(&publisher)
    } catch {
      noteSubscribers(0)
      publisher.finish(.failed)
      throw error
    }
    noteSubscribers(0)
    publisher.finish(finishReason)
  }

  /// Waits for a subscriber. Returns false if the run is over.
  package func waitForSubscriber(of publisher: borrowing Publisher) -> Bool {
    if publisher.subscriberCount == 0 { noteSubscribers(0) }
    let isSubscribed = publisher.waitForSubscriber(until: deadline, stop: stop)
    noteSubscribers(publisher.subscriberCount)
    return isSubscribed && !isOver
  }
}

/// A source's counts at one moment.
public struct CaptureFigures: Hashable, Sendable {
  /// Published frames.
  public var frames: UInt64
  /// Nanoseconds since the run began.
  public var elapsedNs: UInt64
  /// Times at which a frame was due while the source was still busy with an earlier one.
  public var missedDeadlines: UInt64
  /// Times at which a frame was due but nothing had changed.
  public var unchanged: UInt64
  /// Frames that had to be copied into their slot.
  public var copied: UInt64
  /// Subscribers at this moment.
  public var subscribers: Int

  /// Frames per second over the whole run, or since earlier figures of the same run.
  public func framesPerSecond(since earlier: CaptureFigures? = nil) -> Double {
    let elapsed = elapsedNs - (earlier?.elapsedNs ?? 0)
    guard elapsed > 0 else { return 0 }
    return Double(frames - (earlier?.frames ?? 0)) * 1e9 / Double(elapsed)
  }
}
