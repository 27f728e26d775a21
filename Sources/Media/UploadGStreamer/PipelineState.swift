#if Media
  import CGStreamer
  import Platform
  import Synchronization

  /// The state that GStreamer's threads report to the thread that feeds a pipeline: released
  /// frames, the start of the output, its end, or the failure of an element.
  final class PipelineState: Sendable {
    struct Failure: Sendable {
      enum Kind { case failed, noSpace, cannotOpen }
      var kind: Kind
      var element: String
      var message: String
      var detail: String
    }

    /// The progress of the output's first buffer. A network sink accepts it only when connected.
    enum FirstBuffer { case expected, offered, taken }

    private struct Values {
      var framesHeld = 0
      var firstBuffer = FirstBuffer.expected
      var isEnded = false
      var failure: Failure?
    }

    private let values = Mutex(Values())
    /// Changes with every change of the values.
    private let changes = PrivateFutexWord()

    var framesHeld: Int { values.withLock { $0.framesHeld } }
    var firstBuffer: FirstBuffer { values.withLock { $0.firstBuffer } }
    var isEnded: Bool { values.withLock { $0.isEnded } }
    /// The first failure: those that follow are its consequences.
    var failure: Failure? { values.withLock { $0.failure } }

    func frameEntered() { values.withLock { $0.framesHeld += 1 } }

    func frameReleased() { change { $0.framesHeld -= 1 } }
    func moved(_ firstBuffer: FirstBuffer) { change { $0.firstBuffer = firstBuffer } }
    func ended() { change { $0.isEnded = true } }
    func failed(_ failure: Failure) {
      change { if $0.failure == nil { $0.failure = failure } }
    }

    /// Makes waiting threads check their condition again, for conditions outside this object.
    func touch() { change { _ in } }

    private func change(_ body: (inout Values) -> Void) {
      values.withLock { body(&$0) }
      changes.increment()
      changes.wakeAll()
    }

    /// Waits until there is a failure or the condition holds.
    /// - Returns: false if the deadline passed or the signal was raised first.
    func wait(
      until deadline: Deadline, stop: StopSignal?, for condition: (PipelineState) -> Bool
    ) -> Bool {
      while true {
        let seen = changes.load()
        if failure != nil || condition(self) { return true }
        if stop?.isRaised == true || deadline.isPast { return false }
        // SAFETY: no shared word is watched; the private ones live in objects held here.
        unsafe sleepOnFutexes(
          shared: nil, expecting: 0, privates: (changes, seen), stop?.word, until: deadline)
      }
    }
  }

  /// Called by CGStreamer on a thread of GStreamer.
  /// SAFETY: `context` is the `PipelineState` that `Pipeline` keeps alive until its pipeline is
  /// destroyed; the event's strings are valid during the call.
  func handleUploadEvent(
    _ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<upload_event>?
  ) {
    guard let context = unsafe context, let event = unsafe event?.pointee else { return }
    let state = unsafe Unmanaged<PipelineState>.fromOpaque(context).takeUnretainedValue()
    let kind: PipelineState.Failure.Kind
    switch unsafe event.kind {
    case UPLOAD_ENDED: return state.ended()
    case UPLOAD_OFFERED: return state.moved(.offered)
    case UPLOAD_TAKEN: return state.moved(.taken)
    case UPLOAD_ENCODER_LEFT:
      return FailedEncoders.shared.note(
        unsafe String(cString: event.element), reason: unsafe String(cString: event.message),
        next: unsafe String(cString: event.detail))
    case UPLOAD_NO_SPACE: kind = .noSpace
    case UPLOAD_CANNOT_OPEN: kind = .cannotOpen
    default: kind = .failed
    }
    state.failed(
      PipelineState.Failure(
        kind: kind, element: unsafe String(cString: event.element),
        message: unsafe String(cString: event.message),
        detail: lastLine(unsafe String(cString: event.detail))))
  }

  /// The last line of GStreamer's detail. The first names GStreamer's own source file and line.
  private func lastLine(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    return lines.count > 1 ? String(lines[lines.count - 1]) : ""
  }
#endif
