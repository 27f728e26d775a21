import FrameBus
import Platform
import Synchronization

/// A thread that runs tasks for another thread, which blocks until they have ended. It ends with
/// its last user, so that it does not count as a leaked resource.
struct TaskThread: Sendable {
  private let executor: FrameExecutor

  init() throws(SystemError) { executor = try FrameExecutor() }

  func run<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let ended = try StopSignal()
    let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
    _ = Task(executorPreference: executor) {
      do {
        let result = try await body()
        outcome.withLock { $0 = .success(result) }
      } catch { outcome.withLock { $0 = .failure(error) } }
      ended.raise()
    }
    while !ended.isRaised {
      _ = try waitUntilReadable([ended.descriptorNumber], until: .never)
    }
    guard let outcome = outcome.withLock({ $0 }) else { throw ProofError("a task left nothing") }
    return try outcome.get()
  }
}
