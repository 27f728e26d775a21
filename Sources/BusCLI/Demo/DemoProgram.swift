import Platform
import Synchronization

/// One of the programs that a demo starts. It leads its own process group, so that Ctrl-C reaches
/// only the demo, which then stops everything in its own order.
final class DemoProgram: Sendable {
  let name: String
  let process: ChildProcess
  private let output: DemoLines
  private let errors: DemoLines

  /// - Parameters:
  ///   - name: what messages call it.
  ///   - inherited: descriptors that become 3, 4 … in the child.
  init(
    _ name: String, _ path: String, _ arguments: [String],
    environment: [String: String?] = [:], inherited: [Int32] = []
  ) throws {
    let output = try OneWayPipe()
    let errors = try OneWayPipe()
    var options = LaunchOptions(path, arguments)
    options.environment = environment
    options.inherited = inherited
    options.output = .descriptor(output.writeEnd.number)
    options.errors = .descriptor(errors.writeEnd.number)
    options.hasOwnGroup = true
    self.name = name
    process = try ChildProcess(options)
    self.output = try DemoLines(reading: output.takeReadEnd())
    self.errors = try DemoLines(reading: errors.takeReadEnd())
  }

  /// The newest line it wrote to standard error: its progress, or what went wrong.
  var lastWords: String { errors.newest }

  /// All it wrote to standard output, complete once it has ended.
  func collectedOutput() -> String {
    output.waitForEnd()
    return output.all
  }

  func errorIfEnded() -> DemoError? {
    guard let status = process.status else { return nil }
    errors.waitForEnd()
    let error = errors.all.split(separator: "\n").last { $0.hasPrefix("error: ") }
    return .programEnded(name, status, lastWords: error.map(String.init) ?? lastWords)
  }

  /// Asks it to end cleanly, and insists if it does not.
  func stop() { process.end(with: Signal.terminate, killAt: .after(.seconds(15))) }
}

/// The lines of a stream, read as they come by a thread of its own, so that whoever writes them is
/// never held up.
final class DemoLines: Sendable {
  private let text = Mutex("")
  private let ended: StopSignal

  init(reading end: consuming Descriptor) throws {
    ended = try StopSignal()
    let number = end.release()
    try startThread(named: "lines") { [self] in
      let end = Descriptor(owning: number)
      while let bytes = try? readSome(end.number), !bytes.isEmpty {
        text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }
      ended.raise()
    }
  }

  var all: String { text.withLock { $0 } }

  var newest: String {
    String(all.split(separator: "\n").last { !$0.allSatisfy(\.isWhitespace) } ?? "")
  }

  /// A grandchild may keep the stream open, so this does not wait for ever.
  func waitForEnd() {
    _ = try? waitUntilReadable([ended.descriptorNumber], until: .after(.seconds(2)))
  }
}
