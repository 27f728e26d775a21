import AppGroup
import Broadcast
import Foundation
import Platform
import SharedLog
import Synchronization
import TestSupport

/// A group with one extension that writes down how it is called, and a host that notes what it is
/// told.
final class BroadcastScene: Sendable {
  let root: TemporaryRoot
  let group: AppGroup
  let events = Events()
  let controller: BroadcastController

  static let extensionID = "dev.example.tracer"
  /// Small, so that an unoptimised capture keeps up.
  static let usualSource = "test:gradient"
  let source: String

  /// - Parameters:
  ///   - settings: of the extension, such as `fail=signIn`.
  ///   - source: what is captured.
  ///   - manifest: further lines of its manifest.
  init(
    _ settings: [String] = [], credentials: [String] = [], samples: [SampleBufferType] = [.video],
    source: String = usualSource, size: (width: Int, height: Int) = (64, 48),
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

  /// Ends the broadcast as a user would, and waits until every process of it has ended.
  func finish(_ session: SessionID) throws -> BroadcastEnding? {
    try controller.finish()
    return try controller.waitForEnding(of: session)
  }

  /// The calls that the extension got, in order; many samples in a row are one line.
  var trace: [String] {
    let text = (try? String(contentsOfFile: root.file("trace"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  func waitForTrace(_ lines: [String]) throws {
    try waitUntil("the calls are \(lines), not \(trace), \(events.all)") {
      let isOver = try controller.status.phase == .finished
      if trace == lines { return true }
      if isOver { throw HarnessError("it ended with \(trace), \(events.all)") }
      return false
    }
  }

  /// Kills a process of the broadcast, which the kernel found for us.
  func kill(_ role: Role) throws {
    try waitUntil("there is a \(role)") { try controller.status.pids[role] != nil }
    guard let pid = try controller.status.pids[role], let watch = ProcessWatch(pid) else {
      throw HarnessError("the \(role) is gone")
    }
    watch.send(signal: SIGKILL)
    _ = try watch.waitForEnd(until: .after(.seconds(60)))
  }

  /// Starts the host in a process of its own.
  func hostProcess(_ settings: String..., inherited: [Int32] = []) throws -> RunningProgram {
    try RunningProgram("BroadcastWorker", hostArguments + settings, inherited: inherited)
  }

  var hostArguments: [String] {
    ["host", root.path, "\(group.id)", "extension=\(Self.extensionID)", "source=\(source)"]
  }

  /// What the log says now, merged by time.
  func log() throws -> [LogRecord] {
    let reader = try LogReader(group)
    var records: [LogRecord] = []
    while let entry = try reader.next() {
      if case .line(let record) = entry { records.append(record) }
    }
    return records
  }
}

/// What a host was told.
final class Events: Sendable {
  private let list = Mutex<[BroadcastEvent]>([])

  func add(_ event: BroadcastEvent) { list.withLock { $0.append(event) } }
  var all: [BroadcastEvent] { list.withLock { $0 } }

  func wait(for event: BroadcastEvent) throws {
    try waitUntil("\(event) is told, not \(all)") { all.contains(event) }
  }
}
