import AppGroup
import FrameBus
import Platform
import Synchronization
import WorkerSupport

/// A publisher or subscriber that a test can kill: `BusWorker ROLE ROOT GROUP STREAM key=value…`.
/// It reports its progress on standard output, line by line.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 5 else { fatalError("usage: BusWorker ROLE ROOT GROUP STREAM …") }
    let settings = Settings(arguments.dropFirst(5))
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let stream = try StreamName(arguments[4])
    switch arguments[1] {
    case "publish": try publish(stream, group, settings)
    case "subscribe": try subscribe(stream, group, settings)
    case "wait": try waitForFrames(stream, group, settings)
    case "suspend": try receiveSuspended(stream, group, settings)
    case "annotate": annotate(stream, group, settings)
    default: fatalError("no role \(arguments[1])")
    }
  }
}

/// Names the application of another process's stream.
private func annotate(_ stream: StreamName, _ group: AppGroup, _ settings: Settings) {
  let isTaken = ApplicationID(settings.text("application", "")).map {
    StreamAnnotation.set($0, of: stream, in: group, until: .after(.seconds(60)))
  }
  say(isTaken == true ? "taken" : "refused")
}

/// Runs a task to its end, blocking the thread. An asynchronous `main` would give the main thread
/// to Dispatch, which does not keep signals blocked.
func runTask(
  on executor: FrameExecutor? = nil, stop: StopSignal? = nil,
  _ body: @escaping @Sendable () async throws -> Void
) throws {
  let ended = try StopSignal()
  let failure = Mutex<(any Error)?>(nil)
  let task = Task(executorPreference: executor) {
    do { try await body() } catch { failure.withLock { $0 = error } }
    ended.raise()
  }
  _ = try waitUntilReadable(
    [ended.descriptorNumber, (stop ?? ended).descriptorNumber], until: .never)
  if stop?.isRaised == true { task.cancel() }
  _ = try waitUntilReadable([ended.descriptorNumber], until: .never)
  if let error = failure.withLock({ $0 }) { throw error }
}
