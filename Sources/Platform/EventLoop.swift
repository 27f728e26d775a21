import CLinuxShims
import Glibc
import Synchronization

/// One thread that waits on descriptors with `epoll(7)`, calls their handlers, and runs jobs.
///
/// The bus's control plane runs on one that the process shares: accepting, hellos, hang-ups, new
/// pools. Its handlers never block. A loop of one's own may run anything.
package final class EventLoop: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    package static let hangUp = Events(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    /// Told once each time something arrives, not again and again while it lies there.
    package static let atArrival = Events(rawValue: EPOLLET.rawValue)
    /// Together with others: the first of them is the last that is reported.
    package static let once = Events(rawValue: EPOLLONESHOT.rawValue)
    /// Whether the peer hung up in either way; `contains` would ask for both at once.
    package var isHangUp: Bool { !isDisjoint(with: .hangUp) }
  }

  /// Names one registration or timer; never reused.
  package struct Token: Hashable, Sendable { fileprivate let id: UInt64 }

  package typealias Handler = @Sendable (Events) -> Void
  package typealias Job = @Sendable () -> Void

  private struct State {
    var nextID: UInt64 = 1
    var handlers: [UInt64: Handler] = [:]
    var timers: [Timer] = []
    var jobs: [Job] = []
    /// The registration whose handler runs, and how many threads wait for its end.
    var running: UInt64 = 0
    var removers = 0
    /// Whether the thread sleeps, or is about to, and has yet to be woken.
    var isAsleep = false
    var isEnding = false
  }

  private struct Timer {
    let deadline: Deadline
    let id: UInt64
    let work: Job
  }

  private let epoll: Descriptor
  private let wake: EventCounter
  private let state = Mutex(State())
  /// Changes when a handler has returned that somebody waits for.
  private let turns = PrivateFutexWord()

  private static let instance = Mutex<EventLoop?>(nil)

  /// The process's loop. Fails only if the process is out of descriptors or threads.
  package static func shared() throws(SystemError) -> EventLoop {
    let result: Result<EventLoop, SystemError> = instance.withLock { instance in
      if let instance { return .success(instance) }
      do throws(SystemError) {
        let loop = try EventLoop(named: "framebus-loop")
        instance = loop
        return .success(loop)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// The loop on whose thread this is called, if it is one's.
  package static var current: EventLoop? {
    // SAFETY: a loop's thread keeps the loop that it names.
    unsafe linux_thread_owner().map {
      unsafe Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private var isCurrent: Bool {
    unsafe linux_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Starts a loop, which runs until `end`.
  /// - Parameter name: its thread's, at most 15 bytes.
  package init(named name: String) throws(SystemError) {
    epoll = Descriptor(
      owning: try retryingInterrupts("epoll_create1") { epoll_create1(O_CLOEXEC) })
    wake = try EventCounter()
    try control(EPOLL_CTL_ADD, wake.number, .readable, id: 0)
    try startThread(named: name) { [self] in run() }
  }

  /// Ends the thread, after the jobs that it has been given.
  package func end() {
    state.withLock { $0.isEnding = true }
    enqueue {}
  }

  /// Calls the handler on the loop's thread whenever one of the events holds, or the peer hangs up.
  /// The descriptor stays the caller's, who removes the registration before closing it.
  package func add(
    _ descriptor: Int32, _ events: Events, _ handler: @escaping Handler
  ) throws(SystemError) -> Token {
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.handlers[id] = handler
      return id
    }
    do {
      try control(EPOLL_CTL_ADD, descriptor, events, id: id)
    } catch {
      state.withLock { _ = $0.handlers.removeValue(forKey: id) }
      throw error
    }
    return Token(id: id)
  }

  package func change(_ token: Token, _ descriptor: Int32, to events: Events) {
    try? control(EPOLL_CTL_MOD, descriptor, events, id: token.id)
  }

  /// Ends a registration. When this returns, its handler is not running, unless this is called
  /// from the handler, and never runs again.
  package func remove(_ token: Token, _ descriptor: Int32) {
    try? control(EPOLL_CTL_DEL, descriptor, [], id: token.id)
    let isHere = isCurrent
    var isWaiting = false
    while true {
      let turn = turns.load()
      let isRunning = state.withLock { state in
        state.handlers.removeValue(forKey: token.id)
        let isRunning = state.running == token.id && !isHere
        if isRunning != isWaiting { state.removers += isRunning ? 1 : -1 }
        isWaiting = isRunning
        return isRunning
      }
      if !isRunning { return }
      // SAFETY: watches only a word of this object.
      unsafe sleepOnFutexes(shared: nil, expecting: 0, privates: (turns, turn), until: .never)
    }
  }

  /// Runs a job on the loop's thread soon; at once after what runs there now, if called from it.
  package func enqueue(_ job: @escaping Job) {
    let isHere = isCurrent
    let mustWake = state.withLock { state in
      state.jobs.append(job)
      defer { state.isAsleep = false }
      return state.isAsleep && !isHere
    }
    if mustWake { wake.raise() }
  }

  /// Runs a job on the loop's thread and waits for its end.
  package func performAndWait(_ job: @escaping Job) {
    if isCurrent { return job() }
    let done = PrivateFutexWord()
    enqueue {
      job()
      done.store(1)
      done.wakeAll()
    }
    while done.load() == 0 {
      // SAFETY: watches only a word of this process.
      unsafe sleepOnFutexes(shared: nil, expecting: 0, privates: (done, 0), until: .never)
    }
  }

  /// Runs a job on the loop's thread at a moment, unless it is cancelled before.
  @discardableResult
  package func schedule(at deadline: Deadline, _ job: @escaping Job) -> Token {
    let id = state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.timers.append(Timer(deadline: deadline, id: id, work: job))
      return id
    }
    enqueue {}
    return Token(id: id)
  }

  /// Cancels a timer. Its job may be running now.
  package func cancel(_ timer: Token) {
    state.withLock { $0.timers.removeAll { $0.id == timer.id } }
  }

  // MARK: The thread

  private func run() {
    unsafe linux_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
    // SAFETY: epoll_event counts as unsafe for its union, of which only u64 is ever used.
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 32)
    while !runJobs() {
      let timeout = fallAsleep(unless: runTimers())
      let count = unsafe events.withUnsafeMutableBufferPointer {
        unsafe epoll_wait(epoll.number, $0.baseAddress, Int32($0.count), timeout)
      }
      for index in 0..<max(0, Int(count)) {
        unsafe dispatch(id: events[index].data.u64, Events(rawValue: events[index].events))
      }
    }
    linux_set_thread_owner(nil)
  }

  /// Runs the jobs there are and those that come of them: a task goes on in several steps. Bounded,
  /// so that the descriptors have their turn.
  /// - Returns: whether the loop has ended.
  private func runJobs() -> Bool {
    for _ in 0..<64 {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        state.isAsleep = false
        return state.jobs
      }
      if jobs.isEmpty { return state.withLock { $0.isEnding } }
      for job in jobs { job() }
    }
    return false
  }

  /// How long to sleep now: not at all if there are jobs, and at most until the next timer.
  private func fallAsleep(unless nextTimer: Deadline) -> Int32 {
    let hasJobs = state.withLock { state in
      state.isAsleep = state.jobs.isEmpty
      return !state.isAsleep
    }
    return hasJobs ? 0 : nextTimer.milliseconds
  }

  private func dispatch(id: UInt64, _ events: Events) {
    if id == 0 { return wake.lower() }
    let handler = state.withLock { state in
      let handler = state.handlers[id]
      if handler != nil { state.running = id }
      return handler
    }
    guard let handler else { return }
    handler(events)
    let isAwaited = state.withLock { state in
      state.running = 0
      return state.removers > 0
    }
    guard isAwaited else { return }
    turns.increment()
    turns.wakeAll()
  }

  /// Runs what is due. Returns when the next timer is.
  private func runTimers() -> Deadline {
    let now = Deadline(monotonicNs: monotonicNowNs())
    // Seldom is one due: nothing is allocated then, because this is on the way of every event.
    let due = state.withLock { state -> [Timer] in
      guard state.timers.contains(where: { $0.deadline <= now }) else { return [] }
      defer { state.timers.removeAll { $0.deadline <= now } }
      return state.timers.filter { $0.deadline <= now }
    }
    for timer in due { timer.work() }
    return state.withLock { $0.timers.reduce(.never) { min($0, $1.deadline) } }
  }

  private func control(
    _ operation: Int32, _ descriptor: Int32, _ events: Events, id: UInt64
  ) throws(SystemError) {
    // SAFETY: as in run().
    var event = unsafe epoll_event()
    unsafe event.events = events.rawValue
    unsafe event.data.u64 = id
    let number = epoll.number
    _ = try retryingInterrupts("epoll_ctl") {
      unsafe epoll_ctl(number, operation, descriptor, &event)
    }
  }
}
