import Platform

/// Runs each job of a task on its own thread. Tests that wait block the few threads that tasks
/// share, so that their other tasks might never run.
package final class LoneThreads: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    // SAFETY: the job runs once, on the thread below, which retains this executor until then.
    let step = UnownedJob(job)
    do {
      try startThread(named: "test task") { [self] in
        unsafe step.runSynchronously(on: asUnownedTaskExecutor())
      }
    } catch {
      fatalError("a test cannot start a thread: \(error)")
    }
  }
}
