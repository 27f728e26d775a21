import CLinuxShims
import Glibc
import Synchronization

/// One thread that waits on descriptors with `epoll(7)`, calls their handlers, and runs jobs.
///
/// The bus's control plane runs on the process's shared loop: accepting, hellos, hang-ups, new
/// pools. Handlers there never block. A private loop may run anything.
package final class EventLoop: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    package static let hangUp = Events(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    /// Edge-triggered: reported once for each arrival.
    package static let atArrival = Events(rawValue: EPOLLET.rawValue)
    /// With other events: only the first of them is reported.
    package static let once = Events(rawValue: EPOLLONESHOT.rawValue)
    /// Whether the peer hung up in either way; `contains` would require both.
    package var isHangUp: Bool { !isDisjoint(with: .hangUp) }
  }

  /// Identifies a registration or timer; never reused.
  package struct Token: Hashable, Sendable { fileprivate let id: UInt64 }

  package typealias Handler = @Sendable (Events) -> Void
  package typealias Job = @Sendable () -> Void

  private struct State {
    var registrations = Registrations()
    var timers = Timers()
    var jobs: [Job] = []
    /// The registration whose handler runs, and how many threads wait for its end.
    var running: UInt64 = 0
    var removers = 0
    /// Whether the thread sleeps or is about to, and has not been woken yet.
    var isAsleep = false
    var isEnding = false
  }

  private let epoll: Descriptor
  private let wake: EventCounter
  private let timer: TimerDescriptor
  private let state = Mutex(State())
  /// Incremented when a handler returns for which a thread waits.
  private let turns = PrivateFutexWord()

  private static let instance = Mutex<EventLoop?>(nil)

  /// The process's shared loop. Fails only if the process is out of descriptors or threads.
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

  /// The loop of the calling thread, if it has one.
  package static var current: EventLoop? {
    // SAFETY: a loop's thread retains its loop.
    unsafe linux_thread_owner().map {
      unsafe Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private var isCurrent: Bool {
    unsafe linux_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Starts a loop, which runs until `end`.
  /// - Parameter name: the thread's name, at most 15 bytes.
  package init(named name: String) throws(SystemError) {
    epoll = Descriptor(
      owning: try retryingInterrupts("epoll_create1") { epoll_create1(O_CLOEXEC) })
    wake = try EventCounter()
    timer = try TimerDescriptor()
    try control(EPOLL_CTL_ADD, wake.number, .readable, id: Registrations.wakeID)
    try control(EPOLL_CTL_ADD, timer.number, .readable, id: Registrations.timerID)
    try startThread(named: name) { [self] in run() }
  }

  /// Ends the thread after its pending jobs.
  package func end() {
    state.withLock { $0.isEnding = true }
    enqueue {}
  }

  /// Calls the handler on the loop's thread whenever one of the events is pending, or the peer
  /// hangs up. The caller owns the descriptor, and removes the registration before closing it.
  package func add(
    _ descriptor: Int32, _ events: Events, _ handler: @escaping Handler
  ) throws(SystemError) -> Token {
    let id = state.withLock { $0.registrations.add(handler) }
    do {
      try control(EPOLL_CTL_ADD, descriptor, events, id: id)
    } catch {
      state.withLock { $0.registrations.remove(id) }
      throw error
    }
    return Token(id: id)
  }

  package func change(_ token: Token, _ descriptor: Int32, to events: Events) {
    try? control(EPOLL_CTL_MOD, descriptor, events, id: token.id)
  }

  /// Removes a registration. When this returns, its handler is not running (unless this was called
  /// from the handler) and never runs again.
  package func remove(_ token: Token, _ descriptor: Int32) {
    try? control(EPOLL_CTL_DEL, descriptor, [], id: token.id)
    let isHere = isCurrent
    var isWaiting = false
    while true {
      let turn = turns.load()
      let isRunning = state.withLock { state in
        state.registrations.remove(token.id)
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

  /// Runs a job on the loop's thread; if called from there, after the current handler or job.
  package func enqueue(_ job: @escaping Job) {
    let isHere = isCurrent
    let mustWake = state.withLock { state in
      state.jobs.append(job)
      defer { state.isAsleep = false }
      return state.isAsleep && !isHere
    }
    if mustWake { wake.raise() }
  }

  /// Runs a job on the loop's thread and waits until it has finished.
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

  /// Runs a job on the loop's thread at a deadline, unless it is cancelled before.
  @discardableResult
  package func schedule(at deadline: Deadline, _ job: @escaping Job) -> Token {
    state.withLock { state in
      let isFirst = deadline < state.timers.next
      defer { if isFirst { timer.set(deadline) } }
      return Token(id: state.timers.add(deadline, job))
    }
  }

  /// Cancels a timer. Its job may be running now.
  package func cancel(_ timer: Token) { state.withLock { $0.timers.remove(timer.id) } }

  // MARK: The thread

  // A woken process starts with cold caches, so handling an event touches little memory: it takes
  // the lock twice, allocates no collection, and reads no clock.

  private func run() {
    unsafe linux_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
    // SAFETY: epoll_event counts as unsafe for its union, of which only u64 is ever used.
    var events = unsafe InlineArray<16, epoll_event>(repeating: epoll_event())
    while let timeout = runJobs() {
      var span = unsafe events.mutableSpan
      let count = unsafe span.withUnsafeMutableBufferPointer { events -> Int32 in
        guard let first = events.baseAddress else { return 0 }
        return unsafe epoll_wait(epoll.number, first, Int32(events.count), timeout)
      }
      for index in 0..<max(0, Int(count)) {
        unsafe dispatch(id: events[index].data.u64, Events(rawValue: events[index].events))
      }
    }
    linux_set_thread_owner(nil)
  }

  /// Runs the pending jobs and the jobs that they enqueue, because a task resumes in several steps.
  /// Bounded, so that descriptors are not starved.
  /// - Returns: the timeout for `epoll_wait(2)`; nil when the loop has ended.
  private func runJobs() -> Int32? {
    for _ in 0..<64 {
      let (jobs, isEnding) = betweenHandlers { state -> ([Job], Bool) in
        state.isAsleep = state.jobs.isEmpty
        guard !state.isAsleep else { return ([], state.isEnding) }
        defer { state.jobs = [] }
        return (state.jobs, false)
      }
      if jobs.isEmpty { return isEnding ? nil : -1 }
      for job in jobs { job() }
    }
    return 0
  }

  private func dispatch(id: UInt64, _ events: Events) {
    switch id {
    case Registrations.wakeID: wake.lower()
    case Registrations.timerID: runTimers()
    default:
      let handler = betweenHandlers { state in
        let handler = state.registrations.handler(of: id)
        if handler != nil { state.running = id }
        return handler
      }
      handler?(events)
    }
  }

  private func runTimers() {
    let due = betweenHandlers { state in
      let due = state.timers.takeDue(at: Deadline(monotonicNs: monotonicNowNs()))
      // Also clears its readiness.
      timer.set(state.timers.next)
      return due
    }
    for job in due { job() }
  }

  /// Takes the lock between handlers, and wakes threads that wait for the last one to end.
  private func betweenHandlers<Result>(_ body: (inout State) -> sending Result) -> Result {
    let (result, isAwaited) = state.withLock { state in
      let isAwaited = state.running != 0 && state.removers > 0
      state.running = 0
      return (body(&state), isAwaited)
    }
    if isAwaited {
      turns.increment()
      turns.wakeAll()
    }
    return result
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

/// Handlers by number. The low part of a number is the handler's index, so lookup needs no search.
private struct Registrations {
  /// Numbers of the registrations that every loop has.
  static let wakeID: UInt64 = 0
  static let timerID: UInt64 = 1

  private static let slotBits = 24
  private var slots: [(id: UInt64, handler: EventLoop.Handler?)] = []
  private var free: [Int] = []
  private var lastSerial: UInt64 = 0

  mutating func add(_ handler: @escaping EventLoop.Handler) -> UInt64 {
    lastSerial += 1
    let slot = free.popLast() ?? slots.count
    let id = lastSerial << Self.slotBits | UInt64(slot)
    if slot == slots.count { slots.append((0, nil)) }
    slots[slot] = (id, handler)
    return id
  }

  mutating func remove(_ id: UInt64) {
    let slot = Self.slot(of: id)
    guard slot < slots.count, slots[slot].id == id else { return }
    slots[slot] = (0, nil)
    free.append(slot)
  }

  /// - Returns: nil if the handler was removed after the event was reported.
  func handler(of id: UInt64) -> EventLoop.Handler? {
    let slot = Self.slot(of: id)
    return slot < slots.count && slots[slot].id == id ? slots[slot].handler : nil
  }

  private static func slot(of id: UInt64) -> Int { Int(id & (1 << slotBits - 1)) }
}

/// Jobs to run at a deadline.
private struct Timers {
  private struct Timer {
    let deadline: Deadline
    let id: UInt64
    let job: EventLoop.Job
  }

  private var timers: [Timer] = []
  private var lastID: UInt64 = 0

  /// When the next job is due.
  private(set) var next = Deadline.never

  mutating func add(_ deadline: Deadline, _ job: @escaping EventLoop.Job) -> UInt64 {
    lastID += 1
    timers.append(Timer(deadline: deadline, id: lastID, job: job))
    next = min(next, deadline)
    return lastID
  }

  /// The deadline of a removed job stays set; the loop then wakes up without a job.
  mutating func remove(_ id: UInt64) { timers.removeAll { $0.id == id } }

  mutating func takeDue(at now: Deadline) -> [EventLoop.Job] {
    let due = timers.filter { $0.deadline <= now }
    timers.removeAll { $0.deadline <= now }
    next = timers.reduce(.never) { min($0, $1.deadline) }
    return due.map(\.job)
  }
}
