import CommandLineSupport
import Platform
import SharedDefaults
import Synchronization

/// A change of the setting `uploadBitrate`.
enum BitrateChange: CaseIterable {
  case lower, raise

  /// The value that is written.
  var value: String { self == .lower ? "1M" : "4M" }
  var text: String { self == .lower ? "4M to 1M" : "1M to 4M" }
}

/// One round: an upload of noise, whose pictures are as large as the bitrate allows, and changes of
/// the setting, each after the effect of the one before.
struct BitrateTurn {
  let folder: String
  let settings: SharedDefaults
  let run: BenchRun
  let seconds: Int

  static let framesPerSecond = 30
  private static let size = "320x240"
  private static let key = "uploadBitrate"
  /// Pictures at the start of the connection, which are not counted.
  private static let ignoredPictures = 90
  /// Pictures whose median size is that of a bitrate.
  private static let settledCount = 30

  /// - Returns: of each change, the time until its effect.
  func measure() throws -> [BitrateChange: [UInt64]] {
    try settings.set(BitrateChange.raise.value, forKey: Self.key)
    let sizes = try PictureSizes(ignoring: Self.ignoredPictures)
    let receiver = try start("LiveReceiver", ["sizes"]) { sizes.note($0) }
    var started = [receiver]
    defer { for program in started.reversed() { program.stop() } }
    try run.wait(for: sizes.listening, of: started, subject: "framebus", seconds: 0)
    let group = ["--root", folder, "--stream", "noise"]
    let rate = ["--size", Self.size, "--fps", "\(Self.framesPerSecond)"]
    started.append(try start("framebus-capture", ["test:noise"] + rate + group))
    started.append(
      try start("framebus-upload", ["whip:http://127.0.0.1:\(sizes.port)/whip"] + group))
    try run.wait(for: sizes.settled, of: started, subject: "framebus", seconds: 0)
    var found: [BitrateChange: [UInt64]] = [:]
    for index in 0..<max(2, seconds) {
      let change = BitrateChange.allCases[index % 2]
      let writtenNs = monotonicNowNs()
      try settings.set(change.value, forKey: Self.key)
      let delayNs = try waitForEffect(of: change, sinceNs: writtenNs, sizes, started)
      found[change, default: []].append(delayNs)
      // At another moment between two pictures each time.
      try watch(started, until: .after(.milliseconds(index * 13 % 33)))
    }
    return found
  }

  private func waitForEffect(
    of change: BitrateChange, sinceNs writtenNs: UInt64, _ sizes: PictureSizes,
    _ started: [StartedProgram]
  ) throws -> UInt64 {
    let deadline = Deadline.after(.seconds(BenchRun.startTimeoutSeconds))
    repeat {
      try watch(started, until: .after(.milliseconds(100)))
      let pictures = sizes.all
      guard let delayNs = Self.delayNs(of: change, writtenNs, pictures) else { continue }
      sizes.forgetAll(but: Self.settledCount)
      return delayNs
    } while !deadline.isPast
    throw NoEffect(change: change)
  }

  /// - Returns: nil while too few pictures have the new size.
  private static func delayNs(
    of change: BitrateChange, _ writtenNs: UInt64, _ pictures: [PictureSizes.Picture]
  ) -> UInt64? {
    let sizes = pictures.filter { $0.arrivedNs < writtenNs }.suffix(settledCount)
      .map { Double($0.byteCount) }.sorted()
    let later = pictures.filter { $0.arrivedNs > writtenNs }
    guard sizes.count == settledCount, later.count >= 2 * settledCount else { return nil }
    let before = Spread(sizes).median
    let after = Spread(later.suffix(settledCount).map { Double($0.byteCount) }).median
    // A repeated picture may be tiny, and a key frame large: the usual range is that of most.
    let isOther: (Double) -> Bool
    switch change {
    case .lower:
      guard after < before / 2 else { return nil }
      isOther = { $0 < sizes[settledCount / 10] * 0.9 }
    case .raise:
      guard after > before * 2 else { return nil }
      isOther = { $0 > sizes[settledCount - 1 - settledCount / 10] * 1.1 }
    }
    // The encoder takes some pictures to reach the new size.
    let pairs = zip(later, later.dropFirst())
    let first = pairs.first { isOther(Double($0.byteCount)) && isOther(Double($1.byteCount)) }
    return first.map { $0.0.arrivedNs - writtenNs }
  }

  private func watch(_ started: [StartedProgram], until deadline: Deadline) throws {
    let watched = [run.stop.descriptorNumber] + started.map(\.process.descriptorNumber)
    if try waitUntilReadable(watched, until: deadline)[0] { throw Interrupted() }
    for program in started { if let error = program.errorIfEnded() { throw error } }
  }

  private func start(
    _ name: String, _ arguments: [String], onLine: (@Sendable (Substring) -> Void)? = nil
  ) throws -> StartedProgram {
    guard let path = siblingProgram(named: name) else {
      throw MissingSubject(
        subject: "bitrate", program: name,
        remedy: "build it: swift build -c release --product \(name)")
    }
    return try StartedProgram(name, path, arguments, onLine: onLine)
  }
}

/// The pictures did not get the size that the setting asks for.
struct NoEffect: Error, CustomStringConvertible {
  let change: BitrateChange

  var description: String {
    "the upload did not follow uploadBitrate from \(change.text) in "
      + "\(BenchRun.startTimeoutSeconds) s; try again on a less busy machine"
  }
}

/// Parses the receiver's output.
private final class PictureSizes: Sendable {
  struct Picture {
    let byteCount: Int
    let arrivedNs: UInt64
  }

  let listening: StopSignal
  /// Raised when the pictures at the start have arrived.
  let settled: StopSignal
  private let ignoredCount: Int
  private let state = Mutex(State())

  private struct State {
    var port = 0
    var count = 0
    var pictures: [Picture] = []
  }

  init(ignoring count: Int) throws {
    listening = try StopSignal()
    settled = try StopSignal()
    ignoredCount = count
  }

  var port: Int { state.withLock { $0.port } }

  /// Parses `listening PORT` or `N bytes at T ns`.
  func note(_ line: Substring) {
    let words = line.split(separator: " ")
    if words.count == 2, words[0] == "listening", let port = Int(words[1]) {
      state.withLock { $0.port = port }
      return listening.raise()
    }
    guard words.count == 5, let byteCount = Int(words[0]), let timeNs = UInt64(words[3])
    else { return }
    let count = state.withLock { state in
      state.count += 1
      if state.count > ignoredCount / 3 {
        state.pictures.append(Picture(byteCount: byteCount, arrivedNs: timeNs))
      }
      return state.count
    }
    if count == ignoredCount { settled.raise() }
  }

  /// The pictures since those that were forgotten.
  var all: [Picture] { state.withLock { $0.pictures } }

  func forgetAll(but count: Int) {
    state.withLock { $0.pictures.removeFirst(max(0, $0.pictures.count - count)) }
  }
}
