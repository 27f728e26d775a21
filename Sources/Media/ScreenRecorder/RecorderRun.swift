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
  private let failure = Mutex<ScreenRecorderError?>(nil)

  typealias Handler = @Sendable (borrowing FrameLease) -> Void
  typealias EndHandler = @Sendable (ScreenRecorderError?) -> Void

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
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  private func wait(for signal: StopSignal) {
    while !signal.isRaised {
      _ = try? waitUntilReadable([signal.descriptorNumber], until: .never)
    }
  }

  /// The first error is the cause of those after it.
  private func fail(_ error: ScreenRecorderError) {
    failure.withLock { if $0 == nil { $0 = error } }
    stop.raise()
  }

  #if Media
    /// The closures are kept no longer than the capture runs: they may keep its recorder.
    func start(
      _ options: ScreenRecorder.Options, _ handler: @escaping Handler, _ onEnd: @escaping EndHandler
    ) throws(ScreenRecorderError) {
      do {
        let screen = try screenOptions(options)
        try startThread(named: "screen capture") { [self] in publish(screen) }
      } catch {
        ended.raise()
        throw .capture(error)
      }
      do {
        try startThread(named: "screen frames") { [self] in receive(handler, onEnd) }
      } catch {
        stop.raise()
        wait(for: publisherEnded)
        ended.raise()
        throw .capture(error)
      }
      wait(for: ready)
      if hasEnded { try waitUntilEnded() }
    }

    private func screenOptions(_ options: ScreenRecorder.Options) throws -> ScreenOptions {
      var screen = ScreenOptions()
      screen.display = options.display
      screen.window = try options.window.map { try X11Display(options.display).window($0).id }
      screen.rate = options.rate
      screen.region = options.region
      screen.drawsCursor = options.drawsCursor
      var rule = ProtectionRule()
      let named = try WindowRule.list(Array(options.protected))
      for window in try named + WindowRule.setting(of: group) { rule.add(window.text) }
      screen.protection = rule
      return screen
    }

    private func publish(_ options: ScreenOptions) {
      var source = ScreenSource(options)
      let session = CaptureSession(
        group: group, stream: stream, stop: stop,
        streamChanged: { [published] change in
          if case .up = change { published.raise() }
        })
      do { try source.run(in: session) } catch { fail(.capture(error)) }
      publisherEnded.raise()
      published.raise()
    }

    private func receive(_ handler: Handler, _ onEnd: EndHandler) {
      wait(for: published)
      var hasBegun = false
      if failure.withLock({ $0 == nil }) {
        do {
          var subscriber = try Subscriber(
            stream, in: group, waitingForPublisherUntil: .after(.seconds(10)), stop: publisherEnded)
          hasBegun = true
          ready.raise()
          try deliver(&subscriber, handler)
        } catch { if !publisherEnded.isRaised { fail(.capture(error)) } }
      }
      // Not stopped here: an error that ends the publisher would count as that stop.
      wait(for: publisherEnded)
      ended.raise()
      ready.raise()
      if hasBegun { onEnd(failure.withLock { $0 }) }
    }

    /// Until the publisher has ended the stream, or was not able to.
    private func deliver(
      _ subscriber: inout Subscriber, _ handler: Handler
    ) throws(ReceiveError) {
      while true {
        switch try subscriber.next(stop: publisherEnded) {
        case .frame(let frame): if !stop.isRaised { handler(frame) }
        case .finished: return
        case .stopped: return
        case .timedOut: continue
        }
      }
    }
  #else
    func start(
      _ options: ScreenRecorder.Options, _ handler: @escaping Handler, _ onEnd: @escaping EndHandler
    ) throws(ScreenRecorderError) {
      ended.raise()
      throw .noMedia
    }
  #endif
}
