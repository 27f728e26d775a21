import Platform

/// Runs each step of a task on a thread of its own. Tests that wait block the few threads that
/// tasks share, so that a task of theirs might never get a turn.
package final class LoneThreads: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    // SAFETY of the step: it is run once, by the thread below, which keeps this executor meanwhile.
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
