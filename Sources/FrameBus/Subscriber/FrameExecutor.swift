import Platform

/// A thread of its own that runs tasks and hears the bells of their subscribers, so that a task
/// that waits for a frame goes on where the bell was heard, without a switch of threads.
///
/// ```swift
/// let executor = try FrameExecutor()
/// try await withTaskExecutorPreference(executor) {
///   while let frame = try await subscriber.next() { … }
/// }
/// ```
///
/// An actor may run on it as well, as its `unownedExecutor`. Between two waits its tasks may
/// compute as long as they like; the tasks of one executor take turns. It is not the process's own
/// event loop, because that serves publishers and must never wait for anybody's tasks.
///
/// Keep it for as long as tasks prefer it or actors run on it; its thread ends after it.
public final class FrameExecutor: TaskExecutor, SerialExecutor {
  private let loop: EventLoop

  /// Fails only if the process is out of descriptors or threads.
  public init() throws(SystemError) { loop = try EventLoop(named: "frame-executor") }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.enqueue { [self] in
      // SAFETY: the loop's thread runs each job once, and keeps this executor meanwhile.
      unsafe job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  deinit { loop.end() }
}
