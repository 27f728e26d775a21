import Platform
import Synchronization

/// Resource use between two reports of a subject's frame count.
struct FrameSample: Sendable {
  let frames: Int
  let elapsedNs: UInt64
  /// For each of the subject's processes, in the order of their start.
  let processNs: [UInt64]
  let serverNs: UInt64
}

/// Samples the kernel's processor times of some processes whenever one of them reports its frame
/// count.
///
/// Times and counts are sampled together, so the result does not depend on how often a subject
/// reports; and the cost of starting lies before the first sample.
final class FrameSampler: Sendable {
  private struct Moment {
    let frames: Int
    let atNs: UInt64
    let processNs: [UInt64]
    let serverNs: UInt64
  }

  private struct State {
    var processIDs: [Int32]?
    var first: Moment?
    var last: Moment?
    var lineCount = 0
  }

  /// A subject that has counted this many frames has finished starting.
  private static let warmUpFrames = 30

  /// Raised when the sample is complete.
  let done: StopSignal
  private let serverID: Int32
  private let intervalNs: UInt64
  private let state = Mutex(State())

  /// - Parameter serverID: the process that serves the subject's requests.
  init(serverID: Int32, seconds: Int) throws {
    done = try StopSignal()
    self.serverID = serverID
    // Reports arrive once a second, a little early or late.
    intervalNs = UInt64(seconds) * 1_000_000_000 - 500_000_000
  }

  /// Begins to sample, after all processes have started.
  func begin(_ processIDs: [Int32]) { state.withLock { $0.processIDs = processIDs } }

  /// Reads a frame count from a line of the subject's output.
  func note(_ line: Substring) {
    if let frames = Self.frameCount(in: line) { note(frames) }
  }

  /// Counts the lines of a subject that prints one for each frame, and samples at some of them.
  /// - Parameter start: the start of such a line.
  func note(_ line: Substring, ofFrame start: String) {
    guard line.hasPrefix(start) else { return }
    let frames = state.withLock { state in
      state.lineCount += 1
      return state.lineCount
    }
    if frames % Self.warmUpFrames == 0 { note(frames) }
  }

  private func note(_ frames: Int) {
    guard frames >= Self.warmUpFrames else { return }
    state.withLock { state in
      guard state.last == nil, let processIDs = state.processIDs,
        let serverNs = try? processorTimeNs(of: serverID)
      else { return }
      let processNs = processIDs.compactMap { try? processorTimeNs(of: $0) }
      guard processNs.count == processIDs.count else { return }
      let now = Moment(
        frames: frames, atNs: monotonicNowNs(), processNs: processNs, serverNs: serverNs)
      guard let first = state.first else { return state.first = now }
      guard now.atNs - first.atNs >= intervalNs, now.frames > first.frames else { return }
      state.last = now
      done.raise()
    }
  }

  var sample: FrameSample? {
    state.withLock { state in
      guard let first = state.first, let last = state.last else { return nil }
      return FrameSample(
        frames: last.frames - first.frames, elapsedNs: last.atNs - first.atNs,
        processNs: zip(last.processNs, first.processNs).map { $0 - $1 },
        serverNs: last.serverNs - first.serverNs)
    }
  }

  /// The frame count in `60 frames, …`, `frame=60` or `…: 60 buffers`.
  static func frameCount(in line: Substring) -> Int? {
    if line.hasPrefix("frame=") { return Int(line.dropFirst(6).drop { $0 == " " }) }
    let words = line.split(whereSeparator: { " ,".contains($0) })
    guard let unit = words.firstIndex(where: { $0 == "frames" || $0 == "buffers" }), unit > 0
    else { return nil }
    return Int(words[unit - 1])
  }
}
