import CommandLineSupport
import Platform
import Synchronization

/// The measurements of one subject in one round.
struct UploadFinding: Sendable {
  let sample: FrameSample
  /// From drawing to the decoded picture, in ascending order.
  let latenciesNs: [UInt64]
  /// The peak private memory of its processes together.
  let privateBytes: UInt64
  /// The same with their share of libraries and frames; nil if only root can read it.
  let memoryBytes: UInt64?

  var processorNsPerFrame: Double {
    Double(sample.processNs.reduce(0, +)) / Double(sample.frames)
  }
  var framesPerSecond: Double { Double(sample.frames) * 1e9 / Double(sample.elapsedNs) }

  func latencyNs(_ share: Double) -> Double {
    Double(latenciesNs[min(latenciesNs.count - 1, Int(Double(latenciesNs.count) * share))])
  }
}

/// One turn of a subject: starts its own receiver and then its programs, measures them for some
/// seconds, and stops all in all cases.
struct UploadTurn {
  let subject: UploadSubject
  let scene: UploadScene
  let run: BenchRun
  let seconds: Int

  func measure() throws -> UploadFinding {
    let watch = try LiveWatch(seconds: seconds)
    return try run.withReceiver(for: subject.rawValue, onLine: watch.note) { turn in
      for program in try scene.programs(of: subject, to: turn.port) { try turn.start(program) }
      try watch.begin(turn.senderIDs, receiver: turn.receiverID)
      try run.wait(for: watch.done, of: turn.started, subject: subject.rawValue, seconds: seconds)
      guard let finding = watch.finding else { throw Interrupted() }
      return finding
    }
  }
}

/// Parses the receiver's output, and samples the senders meanwhile.
private final class LiveWatch: Sendable {
  private let seconds: Int
  private let state = Mutex(State())

  private struct State {
    var sampler: FrameSampler?
    var senders: [Int32] = []
    var latenciesNs: [UInt64] = []
    var privateBytes: UInt64 = 0
    var memoryBytes: UInt64?
  }

  /// Memory is sampled only once in this many frames, because the kernel counts it page by page.
  private static let framesPerMemorySample = 30
  /// Frames at the start of the connection, which are not counted.
  private static let ignoredFrames = 30

  /// Raised when the finding is complete.
  let done: StopSignal

  init(seconds: Int) throws {
    self.seconds = seconds
    done = try StopSignal()
  }

  func begin(_ senders: [Int32], receiver: Int32) throws {
    let sampler = try FrameSampler(serverID: receiver, seconds: seconds)
    sampler.begin(senders)
    state.withLock { state in
      state.sampler = sampler
      state.senders = senders
    }
  }

  /// Parses `N frames, L us`.
  func note(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 4, let count = Int(words[0]), let latencyUs = Int(words[2]),
      let sampler = state.withLock(\.sampler), count > Self.ignoredFrames
    else { return }
    state.withLock { state in
      defer { state.latenciesNs.append(UInt64(max(0, latencyUs)) * 1000) }
      guard state.latenciesNs.count.isMultiple(of: Self.framesPerMemorySample) else { return }
      let privateBytes = state.senders.compactMap { privateMemoryBytes(of: $0) }
      let memoryBytes = state.senders.compactMap(proportionalMemoryBytes)
      state.privateBytes = max(state.privateBytes, privateBytes.reduce(0, +))
      if memoryBytes.count == state.senders.count {
        state.memoryBytes = max(state.memoryBytes ?? 0, memoryBytes.reduce(0, +))
      }
    }
    sampler.note(line)
    if sampler.sample != nil { done.raise() }
  }

  var finding: UploadFinding? {
    state.withLock { state in
      guard let sample = state.sampler?.sample, !state.latenciesNs.isEmpty else { return nil }
      return UploadFinding(
        sample: sample, latenciesNs: state.latenciesNs.sorted(),
        privateBytes: state.privateBytes, memoryBytes: state.memoryBytes)
    }
  }
}
