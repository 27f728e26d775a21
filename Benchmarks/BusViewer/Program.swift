import AppGroup
import Capture
import FrameBus
import NumberKit
import Platform
import SubjectKit

// The subscriber of `framebus bench demand`, `pacing` and `link`: a user's program, with the public
// API alone. It refuses to encode: it reads each picture once, as the first step of an encoder
// does, or only the number that is drawn into it.

/// `BusViewer ROOT STREAM [WIDTH HEIGHT [FPS]]`: ROOT is the root of a group. It states the box and
/// the rate as its demand, without them nothing, and prints `N frames, WIDTHxHEIGHT` each second.
/// `BusViewer ROOT STREAM numbers` reads the numbers, and reports as NumberKit does.
/// `BusViewer ROOT STREAM marks` reads the test pattern's mark of each picture, and prints
/// `N frames, L us`, as LiveReceiver does.
@main
struct Program {
  static func main() { runSubject(run) }

  private static func run() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.dropFirst(2).compactMap { Int($0) }
    let group = try AppGroup.open(.local, root: arguments[0])
    var options = SubscriberOptions()
    if numbers.count > 1 {
      options.demand.box = Demand.Box(width: numbers[0], height: numbers[1])
    }
    if numbers.count > 2 { options.demand.rate = FrameRate(numbers[2]) }
    let readsMarks = arguments.count > 2 && arguments[2] == "marks"
    // A network brings several pictures at once.
    if readsMarks { options.policy = .keepLatest(4) }
    var subscriber = try Subscriber(
      StreamName(arguments[1]), in: group, options: options,
      waitingForPublisherUntil: .after(.seconds(30)))
    if arguments.count > 2, arguments[2] == "numbers" { return try read(&subscriber) }
    if readsMarks { return try readMarks(&subscriber) }
    var (count, sum) = (0, UInt64(0))
    var report = Deadline.after(.seconds(1))
    while case .frame(let frame) = try subscriber.next() {
      sum &+= frame.withUnsafeBytes(Self.sum)
      count += 1
      guard report.isPast else { continue }
      report = .after(.seconds(1))
      let (width, height) = (frame.format.width, frame.format.height)
      // The sum is used, so that no compiler leaves the reading out.
      let line = "\(count) frames, \(width)x\(height), sum \(sum)\n"
      try writeFully(Array(line.utf8), to: 1)
    }
  }

  private static func read(_ subscriber: inout Subscriber) throws {
    let counts = number_begin()
    while case .frame(let frame) = try subscriber.next() {
      let dropped = subscriber.droppedCount
      let stride = frame.format.planes[0].stride
      frame.withUnsafeBytes { number_note(counts, $0.baseAddress, stride, dropped) }
    }
  }

  private static func readMarks(_ subscriber: inout Subscriber) throws {
    var count = 0
    while case .frame(let frame) = try subscriber.next() {
      let nowUs = monotonicNowNs() / 1000
      guard let mark = TestPatternMark(format: frame.format, bytes: frame.bytes) else { continue }
      count += 1
      // The mark's milliseconds are rounded down, by half a millisecond on average.
      let whole = UInt32(truncatingIfNeeded: nowUs / 1000) &- mark.milliseconds
      let latencyUs = Int64(whole) * 1000 + Int64(nowUs % 1000) - 500
      try writeFully(Array("\(count) frames, \(latencyUs) us\n".utf8), to: 1)
    }
  }

  private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var sum = SIMD8<UInt64>.zero
    let step = MemoryLayout<SIMD8<UInt64>>.size
    for offset in stride(from: 0, through: bytes.count - step, by: step) {
      sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
    }
    return sum.wrappedSum()
  }
}
