import Platform

/// A dedicated thread that runs tasks and watches the bells of their subscribers. A task that waits
/// for a frame resumes on the thread that received the bell, without a context switch.
///
/// ```swift
/// let executor = try FrameExecutor()
/// try await withTaskExecutorPreference(executor) {
///   while let frame = try await subscriber.next() { … }
/// }
/// ```
///
/// An actor may run on it too, as its `unownedExecutor`. Tasks may compute for any time between two
/// waits; the tasks of one executor take turns. It is separate from the process's shared event
/// loop, because that serves publishers and must never wait for a task.
///
/// Keep it alive while tasks prefer it or actors run on it. Its thread ends after it is released.
public final class FrameExecutor: TaskExecutor, SerialExecutor {
  private let loop: EventLoop

  /// Fails only if the process is out of descriptors or threads.
  public init() throws(SystemError) { loop = try EventLoop(named: "frame-executor") }

  /// Runs a job of Swift's concurrency on the executor's thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.enqueue { [self] in
      // SAFETY: the loop's thread runs each job once, and the closure retains this executor.
      unsafe job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  deinit { loop.end() }
}
