import AppGroup
import Broadcast
import Foundation
import Platform
import SharedLog
import Synchronization
import TestSupport

/// A group with one extension that traces its calls, and a host that collects its events.
final class BroadcastScene: Sendable {
  let root: TemporaryRoot
  let group: AppGroup
  let events = Events()
  let controller: BroadcastController

  static let extensionID = "dev.example.tracer"
  /// Small, so that an unoptimised capture keeps up.
  static let defaultSource = "test:gradient"
  let source: String

  /// - Parameters:
  ///   - settings: arguments of the extension, such as `fail=signIn`.
  ///   - source: the source to capture.
  ///   - manifest: additional lines of its manifest.
  init(
    _ settings: [String] = [], credentials: [String] = [], samples: [SampleBufferType] = [.video],
    source: String = defaultSource, size: (width: Int, height: Int) = (64, 48),
    manifest: String = ""
  ) throws {
    self.source = source
    root = try TemporaryRoot()
    group = try AppGroup.create(GroupID("group.dev.example.broadcast"), root: root.path)
    try Data().write(to: URL(filePath: root.file("trace")))
    controller = try BroadcastController(in: group) { [events] in events.add($0) }
    try register(
      settings, credentials: credentials, samples: samples, size: size, manifest: manifest)
  }

  func register(
    _ settings: [String], credentials: [String] = [], samples: [SampleBufferType] = [.video],
    size: (width: Int, height: Int) = (64, 48), manifest: String = ""
  ) throws {
    let arguments = ["extension", "trace=\(root.file("trace"))"] + settings
    let text = """
      version = 1
      id = "\(Self.extensionID)"
      executable = "\(try pathOfProgram("BroadcastWorker"))"
      arguments = \(arguments)
      credentials = \(credentials)
      samples = \(samples.map(\.rawValue))
      writes = ["\(root.file("trace"))"]
      \(manifest)

      [format]
      width = \(size.width)
      height = \(size.height)
      """
    try ExtensionRegistry(group).register(ExtensionManifest(parsing: Array(text.utf8)))
  }

  var request: BroadcastRequest {
    BroadcastRequest(extensionID: Self.extensionID, source: source)
  }

  @discardableResult
  func start() throws -> SessionID { try controller.start(request).session }

  /// Ends the broadcast as a user would, and waits until all its processes have exited.
  func finish(_ session: SessionID) throws -> BroadcastEnding? {
    try controller.finish()
    return try controller.waitForEnding(of: session)
  }

  /// The calls that the extension received, in order; consecutive samples are one line. Whether a
  /// screen that is back is still being drawn depends on the moment.
  var trace: [String] {
    let text = (try? String(contentsOfFile: root.file("trace"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init).filter { $0 != "paused transition" }
  }

  func waitForTrace(_ lines: [String]) throws {
    try waitUntil("the calls are \(lines), not \(trace), \(events.all)") {
      let isOver = try controller.status.phase == .finished
      if trace == lines { return true }
      if isOver { throw HarnessError("it ended with \(trace), \(events.all)") }
      return false
    }
  }

  /// Appends a word to the trace, for which the extension waits.
  func tell(_ word: String) throws {
    guard let trace = FileHandle(forWritingAtPath: root.file("trace")) else { return }
    try trace.seekToEnd()
    try trace.write(contentsOf: Data("\(word)\n".utf8))
  }

  /// Kills a process of the broadcast, as identified by the kernel.
  func kill(_ role: Role) throws {
    try waitUntil("the \(role) runs") { try controller.status.pids[role] != nil }
    guard let pid = try controller.status.pids[role], let watch = ProcessWatch(pid) else {
      throw HarnessError("the \(role) is gone")
    }
    watch.send(signal: SIGKILL)
    _ = try watch.waitForEnd(until: .after(.seconds(60)))
  }

  /// Starts the host in a separate process.
  func hostProcess(
    _ settings: String..., inherited: [Int32] = [], seeing memory: OwnSharedMemory? = nil
  ) throws -> RunningProgram {
    try RunningProgram(
      "BroadcastWorker", hostArguments + settings, inherited: inherited, seeing: memory)
  }

  var hostArguments: [String] {
    ["host", root.path, "\(group.id)", "extension=\(Self.extensionID)", "source=\(source)"]
  }

  /// The current contents of the log, merged by time.
  func log() throws -> [LogRecord] {
    let reader = try LogReader(group)
    var records: [LogRecord] = []
    while let entry = try reader.next() {
      if case .line(let record) = entry { records.append(record) }
    }
    return records
  }
}

/// The events that a host received.
final class Events: Sendable {
  private let list = Mutex<[BroadcastEvent]>([])

  func add(_ event: BroadcastEvent) { list.withLock { $0.append(event) } }
  var all: [BroadcastEvent] { list.withLock { $0 } }

  func wait(for event: BroadcastEvent) throws {
    try waitUntil("\(event) arrives, not \(all)") { all.contains(event) }
  }
}
