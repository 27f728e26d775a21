import AppGroup
import Capture
import CaptureX11
import FrameBus
import Platform
import Synchronization

/// One capture: a thread publishes, another receives and calls the handler.
final class RecorderRun: Sendable {
  let stop: StopSignal
  private let group: AppGroup
  private let stream: StreamName
  /// The stream has a publisher, or the publisher has ended.
  private let published: StopSignal
  private let publisherEnded: StopSignal
  /// Frames can come, or the run has ended.
  private let ready: StopSignal
  private let ended: StopSignal
  private let outcome = Mutex(Outcome())

  private struct Outcome {
    var failure: ScreenRecorderError?
    /// Frames can come: what ends the capture is no longer an error of its start.
    var hasBegun = false
    /// Not yet passed on.
    var notices: [String] = []
  }

  /// The caller's closures, all called on one thread.
  struct Handlers: Sendable {
    let frame: @Sendable (borrowing FrameLease) -> Void
    let paused: @Sendable (PauseReason) -> Void
    let resumed: @Sendable () -> Void
    let noticed: @Sendable (String) -> Void
    let ended: @Sendable (ScreenRecorderError?) -> Void
  }

  init(_ group: AppGroup, _ stream: StreamName) throws(SystemError) {
    self.group = group
    self.stream = stream
    stop = try StopSignal()
    published = try StopSignal()
    publisherEnded = try StopSignal()
    ready = try StopSignal()
    ended = try StopSignal()
  }

  var hasEnded: Bool { ended.isRaised }

  func waitUntilEnded() throws(ScreenRecorderError) {
    wait(for: ended)
    if let failure = outcome.withLock({ $0.failure }) { throw failure }
  }

  private func wait(for signal: StopSignal) {
    while !signal.isRaised {
      _ = try? waitUntilReadable([signal.descriptorNumber], until: .never)
    }
  }

  /// The first error is the cause of those after it.
  private func fail(_ error: ScreenRecorderError) {
    outcome.withLock { if $0.failure == nil { $0.failure = error } }
    stop.raise()
  }

  #if Media
    /// The closures are kept no longer than the capture runs: they may keep its recorder.
    func start(
      _ options: ScreenRecorder.Options, _ handlers: Handlers
    ) throws(ScreenRecorderError) {
      do {
        try Self.check(options.capture)
        try startThread(named: "screen capture") { [self] in publish(options) }
      } catch let error as ScreenRecorderError {
        ended.raise()
        throw error
      } catch {
        ended.raise()
        throw .capture(error)
      }
      // Keeps the notification while this process may be the only one of the group.
      let captured = CapturedAnnouncer.start(in: group)
      do {
        try startThread(named: "screen frames") { [self] in receive(handlers, captured) }
      } catch {
        stop.raise()
        wait(for: publisherEnded)
        captured?.end()
        ended.raise()
        throw .capture(error)
      }
      wait(for: ready)
      if let failure = outcome.withLock({ $0.hasBegun ? nil : $0.failure }) { throw failure }
    }

    private static func check(_ settings: CaptureSettings) throws {
      if settings.protection == .off { throw ScreenRecorderError.unprotected }
      try settings.check()
      try SourceSpecification.screen(display: nil).kind.check(settings)
    }

    private func screenOptions(_ options: ScreenRecorder.Options) throws -> ScreenOptions {
      let window = try options.window.map {
        try X11Display(options.display, stop: stop).window($0, stop: stop).id
      }
      var settings = options.capture
      // Marked windows, at least.
      settings.protection.add([])
      return ScreenOptions(settings, display: options.display, window: window)
    }

    private func publish(_ options: ScreenRecorder.Options) {
      let session = CaptureSession(
        group: group, stream: stream, stop: stop,
        streamChanged: { [published] change in
          if case .up = change { published.raise() }
        },
        noticed: { [weak self] notice in self?.outcome.withLock { $0.notices.append(notice) } })
      do {
        var source = ScreenSource(try screenOptions(options))
        try source.run(in: session)
      } catch {
        // A stop ends every wait, also that for a click on a window.
        if !stop.isRaised { fail(.capture(error)) }
      }
      publisherEnded.raise()
      published.raise()
    }

    private func receive(_ handlers: Handlers, _ captured: CapturedAnnouncer?) {
      wait(for: published)
      if outcome.withLock({ $0.failure == nil }) {
        do {
          var options = SubscriberOptions()
          options.onEvent = { [weak self] event in self?.report(event, handlers) }
          var subscriber = try Subscriber(
            stream, in: group, options: options, waitingForPublisherUntil: .after(.seconds(10)),
            stop: publisherEnded)
          outcome.withLock { $0.hasBegun = true }
          ready.raise()
          passOnNotices(handlers)
          try deliver(&subscriber, handlers)
        } catch { if !publisherEnded.isRaised { fail(.capture(error)) } }
      }
      // Not stopped here: an error that ends the publisher would count as that stop.
      wait(for: publisherEnded)
      captured?.end()
      // The start throws an error that came before the first frame could.
      let end = outcome.withLock { $0 }
      ended.raise()
      ready.raise()
      if end.hasBegun || end.failure == nil { handlers.ended(end.failure) }
    }

    private func report(_ event: StreamEvent, _ handlers: Handlers) {
      if stop.isRaised { return }
      passOnNotices(handlers)
      switch event {
      case .paused(let reason): handlers.paused(reason)
      case .resumed: handlers.resumed()
      case .publisherGone, .publisherBack, .losslessEnded, .evicted, .annotated: break
      }
    }

    private func passOnNotices(_ handlers: Handlers) {
      let notices = outcome.withLock { outcome in
        defer { outcome.notices = [] }
        return outcome.notices
      }
      for notice in notices { handlers.noticed(notice) }
    }

    /// Until the publisher has ended the stream, or was not able to.
    private func deliver(
      _ subscriber: inout Subscriber, _ handlers: Handlers
    ) throws(ReceiveError) {
      while true {
        switch try subscriber.next(stop: publisherEnded) {
        case .frame(let frame): if !stop.isRaised { handlers.frame(frame) }
        case .finished: return
        case .stopped: return
        case .timedOut: continue
        }
      }
    }
  #else
    func start(
      _ options: ScreenRecorder.Options, _ handlers: Handlers
    ) throws(ScreenRecorderError) {
      ended.raise()
      throw .noMedia
    }
  #endif
}
