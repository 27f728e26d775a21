import CLinuxShims
import Glibc
import Synchronization

/// One thread that waits on descriptors with `epoll(7)` and calls their handlers.
///
/// The bus's control plane runs on it: accepting, hellos, hang-ups, new pools. Handlers never
/// block. A process has one, started at first use.
package final class EventLoop: Sendable {
  package struct Events: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    package static let hangUp = Events(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    /// Together with others: the first of them is the last that is reported.
    package static let once = Events(rawValue: EPOLLONESHOT.rawValue)
    /// Whether the peer hung up in either way; `contains` would ask for both at once.
    package var isHangUp: Bool { !isDisjoint(with: .hangUp) }
  }

  /// Names one registration; never reused.
  package struct Token: Hashable, Sendable { fileprivate let id: UInt64 }

  package typealias Handler = @Sendable (Events) -> Void

  private struct State {
    var nextID: UInt64 = 1
    var handlers: [UInt64: Handler] = [:]
    var timers: [(deadline: UInt64, id: UInt64, work: @Sendable () -> Void)] = []
    var jobs: [@Sendable () -> Void] = []
    var running: UInt64 = 0
    var thread: pthread_t = 0
  }

  private let epoll: Descriptor
  private let wake: Descriptor
  private let state = Mutex(State())
  /// Counts the handlers that have returned; who removes a running one sleeps on it.
  private let turns = PrivateFutexWord()

  private static let instance = Mutex<EventLoop?>(nil)

  /// The process's loop. Fails only if the process is out of descriptors or threads.
  package static func shared() throws(SystemError) -> EventLoop {
    let result: Result<EventLoop, SystemError> = instance.withLock { instance in
      if let instance { return .success(instance) }
      do throws(SystemError) {
        let loop = try EventLoop()
        try loop.start()
        instance = loop
        return .success(loop)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  private init() throws(SystemError) {
    epoll = Descriptor(
      owning: try retryingInterrupts("epoll_create1") { epoll_create1(O_CLOEXEC) })
    wake = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
    try control(EPOLL_CTL_ADD, wake.number, .readable, id: 0)
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
    while true {
      let turn = turns.load()
      let isElsewhere = state.withLock { state in
        state.handlers.removeValue(forKey: token.id)
        return state.running == token.id && pthread_equal(state.thread, pthread_self()) == 0
      }
      if !isElsewhere { return }
      // SAFETY: watches only a word of this object.
      unsafe sleepOnFutexes(
        shared: nil, expecting: 0, privates: (turns, turn), until: .never)
    }
  }

  /// Runs work on the loop's thread soon.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs.append(work) }
    var one: UInt64 = 1
    unsafe write(wake.number, &one, 8)
  }

  /// Runs work on the loop's thread and waits for its end.
  package func performAndWait(_ work: @escaping @Sendable () -> Void) {
    let isHere = state.withLock { pthread_equal($0.thread, pthread_self()) != 0 }
    if isHere { return work() }
    let done = PrivateFutexWord()
    enqueue {
      work()
      done.store(1)
      done.wakeAll()
    }
    while done.load() == 0 {
      // SAFETY: watches only a word of this process.
      unsafe sleepOnFutexes(shared: nil, expecting: 0, privates: (done, 0), until: .never)
    }
  }

  /// Runs work on the loop's thread at a moment.
  package func schedule(at deadline: Deadline, _ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.timers.append((deadline.monotonicNs, state.nextID, work))
      state.nextID += 1
    }
    enqueue {}
  }

  // MARK: The thread

  private func start() throws(SystemError) {
    var thread: pthread_t = 0
    // SAFETY: the reference retained here is taken back by the thread, which never ends.
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        let loop = unsafe Unmanaged<EventLoop>.fromOpaque(argument).takeRetainedValue()
        unsafe linux_name_thread("framebus-loop")
        loop.run()
      }, Unmanaged.passRetained(self).toOpaque())
    if result != 0 { throw SystemError(code: result, operation: "pthread_create") }
    state.withLock { $0.thread = thread }
  }

  private func run() -> Never {
    // SAFETY: epoll_event counts as unsafe for its union, of which only u64 is ever used.
    var events = unsafe [epoll_event](repeating: epoll_event(), count: 32)
    while true {
      let timeout = runTimers()
      let count = unsafe events.withUnsafeMutableBufferPointer {
        unsafe epoll_wait(epoll.number, $0.baseAddress, Int32($0.count), timeout)
      }
      for index in 0..<max(0, Int(count)) {
        unsafe dispatch(id: events[index].data.u64, Events(rawValue: events[index].events))
      }
    }
  }

  private func dispatch(id: UInt64, _ events: Events) {
    if id == 0 { return runJobs() }
    let handler = state.withLock { state in
      let handler = state.handlers[id]
      if handler != nil { state.running = id }
      return handler
    }
    guard let handler else { return }
    handler(events)
    finishTurn()
  }

  private func finishTurn() {
    state.withLock { $0.running = 0 }
    turns.increment()
    turns.wakeAll()
  }

  private func runJobs() {
    var count: UInt64 = 0
    unsafe read(wake.number, &count, 8)
    let jobs = state.withLock { state in
      let jobs = state.jobs
      state.jobs = []
      return jobs
    }
    for job in jobs { job() }
  }

  /// Runs what is due. Returns the milliseconds until the next timer, or −1.
  private func runTimers() -> Int32 {
    let now = monotonicNowNs()
    let (due, next) = state.withLock { state in
      let due = state.timers.filter { $0.deadline <= now }
      state.timers.removeAll { $0.deadline <= now }
      return (due, state.timers.map(\.deadline).min())
    }
    for timer in due { timer.work() }
    if !due.isEmpty { return 0 }
    return next.map { Int32(clamping: ($0 - now) / 1_000_000 + 1) } ?? -1
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
