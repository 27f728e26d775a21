import CLinuxShims
import Glibc

/// Starts a detached thread that runs `body` once: for long-running blocking work, which must not
/// occupy a thread of Swift's cooperative pool. It blocks all signals but those that it causes
/// itself, so that a program's handlers run on the program's threads.
package func startThread(
  named name: String, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  let work = unsafe Unmanaged.passRetained(ThreadWork(name: name, body: body))
  var thread = pthread_t()
  // It inherits the mask at this moment.
  let former = blockSignals()
  defer {
    var mask = former
    unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
  }
  // SAFETY: the new thread takes ownership of the one reference passed to it, exactly once.
  let code = unsafe pthread_create(
    &thread, nil,
    { argument in
      let work = unsafe Unmanaged<ThreadWork>.fromOpaque(argument!).takeRetainedValue()
      _ = unsafe linux_name_thread(work.name)
      work.body()
      return nil
    }, work.toOpaque())
  guard code == 0 else {
    unsafe work.release()
    throw SystemError(code: code, operation: "pthread_create")
  }
  pthread_detach(thread)
}

/// Blocks this thread's signals.
/// - Returns: the mask before.
private func blockSignals() -> sigset_t {
  var mask = sigset_t()
  var former = sigset_t()
  unsafe sigfillset(&mask)
  // Blocked, they would end the process before a handler could run (GuardedMapping).
  for signal in [SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS] {
    unsafe sigdelset(&mask, signal)
  }
  unsafe pthread_sigmask(SIG_SETMASK, &mask, &former)
  return former
}

private final class ThreadWork: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}
