import AppGroup
import CommandLineSupport
import Platform
import Synchronization

/// The measurements of one subject in one round.
struct LinkFinding: Sendable {
  /// Of all streams.
  let frames: Int
  let elapsedNs: UInt64
  /// Of all processes, on both sides.
  let processorNs: UInt64
  /// From drawing to the decoded picture, in ascending order.
  let latenciesNs: [UInt64]

  var processorNsPerFrame: Double { Double(processorNs) / Double(frames) }
  var framesPerSecond: Double { Double(frames) * 1e9 / Double(elapsedNs) }

  func latencyNs(_ share: Double) -> Double {
    Double(latenciesNs[min(latenciesNs.count - 1, Int(Double(latenciesNs.count) * share))])
  }
}

/// One turn of a subject: starts the programs of all streams, receivers first, measures them for
/// some seconds, and stops all in all cases.
struct LinkTurn {
  let subject: LinkSubject
  let count: Int
  let run: BenchRun
  let seconds: Int

  func measure() throws -> LinkFinding {
    let folders = try (0..<2).map { _ in try TemporaryFolder(prefix: "framebus-bench-link-") }
    defer { for folder in folders { try? folder.remove() } }
    for folder in folders { _ = try AppGroup.create(.local, root: folder.path) }
    // SRT's ports are UDP's; those of TCP are held so that no two streams get the same number.
    let ports = try (0..<count).map { _ in try LoopbackListener() }
    let scenes = ports.enumerated().map { index, port in
      LinkScene(
        near: folders[0].path, far: folders[1].path, port: port.port, stream: "s\(index)")
    }
    let watch = try LinkWatch(streams: count, seconds: seconds)
    var started: [StartedProgram] = []
    defer { for program in started.reversed() { program.stop() } }
    for (index, scene) in scenes.enumerated() {
      let programs = try scene.receivers(of: subject)
      for (position, program) in programs.enumerated() {
        let isReader = position == programs.count - 1
        started.append(
          try StartedProgram(program.name, program.path, program.arguments) { line in
            if isReader { watch.note(line, of: index) }
          })
      }
    }
    if subject == .limit {
      try run.wait(for: watch.listening, of: started, subject: subject.rawValue, seconds: 0)
    }
    for scene in scenes {
      for program in try scene.senders(of: subject) {
        started.append(try StartedProgram(program.name, program.path, program.arguments))
      }
    }
    watch.begin(started.map(\.process.processID))
    try run.wait(for: watch.done, of: started, subject: subject.rawValue, seconds: seconds)
    withExtendedLifetime(ports) {}
    guard let finding = watch.finding else { throw Interrupted() }
    return finding
  }
}

/// Parses the readers' output, and samples all processes at the beginning and the end.
private final class LinkWatch: Sendable {
  private struct Moment {
    let frames: Int
    let atNs: UInt64
    let processorNs: UInt64
  }

  private struct State {
    var processes: [Int32]?
    var counts: [Int]
    var listenerCount = 0
    var latenciesNs: [UInt64] = []
    var first: Moment?
    var last: Moment?
  }

  /// Frames at the start of each stream, which are not counted.
  private static let warmUpFrames = 30

  /// Raised when every receiver listens, and when the finding is complete.
  let listening, done: StopSignal
  private let durationNs: UInt64
  private let state: Mutex<State>

  init(streams: Int, seconds: Int) throws {
    listening = try StopSignal()
    done = try StopSignal()
    durationNs = UInt64(seconds) * 1_000_000_000
    state = Mutex(State(counts: Array(repeating: 0, count: streams)))
  }

  func begin(_ processes: [Int32]) { state.withLock { $0.processes = processes } }

  /// Parses `listening` and `N frames, L us`.
  func note(_ line: Substring, of stream: Int) {
    if line == "listening" { return noteListener() }
    let words = line.split(separator: " ")
    guard words.count == 4, words[1] == "frames,", let latencyUs = Int(words[2]) else { return }
    state.withLock { state in
      state.counts[stream] += 1
      guard state.last == nil, let processes = state.processes,
        state.counts.allSatisfy({ $0 > Self.warmUpFrames })
      else { return }
      guard let first = state.first else {
        return state.first = Self.moment(state.counts, processes)
      }
      state.latenciesNs.append(UInt64(max(0, latencyUs)) * 1000)
      guard monotonicNowNs() - first.atNs >= durationNs else { return }
      state.last = Self.moment(state.counts, processes)
      if state.last != nil { done.raise() }
    }
  }

  private func noteListener() {
    let isComplete = state.withLock { state in
      state.listenerCount += 1
      return state.listenerCount == state.counts.count
    }
    if isComplete { listening.raise() }
  }

  /// - Returns: nil if a process has ended.
  private static func moment(_ counts: [Int], _ processes: [Int32]) -> Moment? {
    let times = processes.compactMap { try? processorTimeNs(of: $0) }
    guard times.count == processes.count else { return nil }
    return Moment(
      frames: counts.reduce(0, +), atNs: monotonicNowNs(), processorNs: times.reduce(0, +))
  }

  var finding: LinkFinding? {
    state.withLock { state in
      guard let first = state.first, let last = state.last, !state.latenciesNs.isEmpty
      else { return nil }
      return LinkFinding(
        frames: last.frames - first.frames, elapsedNs: last.atNs - first.atNs,
        processorNs: last.processorNs - first.processorNs,
        latenciesNs: state.latenciesNs.sorted())
    }
  }
}
