import Platform
import Synchronization

/// What was used between two moments at which a subject said how many frames it had counted.
struct FrameSample: Sendable {
  let frames: Int
  let elapsedNs: UInt64
  /// Of each of the subject's processes, in the order of their start.
  let processNs: [UInt64]
  let serverNs: UInt64
}

/// Takes the kernel's processor times of some processes whenever one of them reports its frames.
///
/// Time and frames are taken at the same moments, so that it does not matter how seldom a subject
/// reports; and what starting costs lies before the first moment.
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
  }

  /// A subject that has counted so many frames is past its start.
  private static let warmUpFrames = 30

  /// Raised when the sample is complete.
  let done: StopSignal
  private let serverID: Int32
  private let intervalNs: UInt64
  private let state = Mutex(State())

  /// - Parameter serverID: the process that the subject's requests go to.
  init(serverID: Int32, seconds: Int) throws {
    done = try StopSignal()
    self.serverID = serverID
    // Reports come once a second, a little early or late.
    intervalNs = UInt64(seconds) * 1_000_000_000 - 500_000_000
  }

  /// Begins to sample, once all processes are started.
  func begin(_ processIDs: [Int32]) { state.withLock { $0.processIDs = processIDs } }

  /// Looks for a count of frames in a line that the subject wrote.
  func note(_ line: Substring) {
    guard let frames = Self.frameCount(in: line), frames >= Self.warmUpFrames else { return }
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

  /// `60 frames, …`, `frame=60` or `…: 60 buffers`.
  static func frameCount(in line: Substring) -> Int? {
    if line.hasPrefix("frame=") { return Int(line.dropFirst(6).drop { $0 == " " }) }
    let words = line.split(whereSeparator: { " ,".contains($0) })
    guard let unit = words.firstIndex(where: { $0 == "frames" || $0 == "buffers" }), unit > 0
    else { return nil }
    return Int(words[unit - 1])
  }
}
