import Platform

/// The work of the processes in one turn: a row of the ring suite.
struct RingScenario: Sendable {
  /// The figure of a row.
  enum Measure: Sendable {
    /// Time from a filled frame to a subscriber that can read it.
    case latency
    /// Frames that a subscriber receives.
    case rate
    /// The publisher's time for a loan and its publication, or for a post.
    case cost
    /// Time from a post to the last of all subscribers.
    case last
    /// Frames that a publisher publishes, however many are received.
    case posts
    /// System calls of the publisher and one subscriber for each frame.
    case calls
  }

  struct Traits: OptionSet, Sendable {
    let rawValue: Int
    /// Both sides spin; otherwise they sleep.
    static let polls = Traits(rawValue: 1)
    /// Every byte is written and summed; otherwise the first 16.
    static let fills = Traits(rawValue: 2)
    /// The publisher waits for its subscribers, so that every frame arrives.
    static let lossless = Traits(rawValue: 4)
    /// The subscribers are attached and do nothing.
    static let idles = Traits(rawValue: 8)
    /// The publisher spins until a frame is due, without a system call.
    static let spins = Traits(rawValue: 16)
    /// The publisher measures each call by itself, even if subscribers sleep.
    static let times = Traits(rawValue: 32)
    /// The subscribers work on each frame for a millisecond.
    static let works = Traits(rawValue: 64)
    /// The publisher checks for a post instead of publishing.
    static let checks = Traits(rawValue: 128)
    /// The publisher lists credentials instead of opening one.
    static let lists = Traits(rawValue: 256)
    /// The publisher receives each frame itself, on its thread.
    static let receives = Traits(rawValue: 512)
    /// The publisher opens the store for each credential, like a program that needs one.
    static let opens = Traits(rawValue: 1024)
  }

  let name: String
  let measure: Measure
  let bytes: Int
  var framesPerSecond = 0
  /// The subscribers of each stream.
  var subscribers = 1
  /// The streams, each with a publisher of its own.
  var streams = 1
  /// Frames in flight, for subjects that can set it.
  var depth = 8
  var traits: Traits = []
  /// The number of credentials in the store, for scenarios that open credentials.
  var credentials = 0
  /// The place of this scenario among those that differ in one number.
  var scale: BenchScale?

  static let smallBytes = 64
  /// A 1920×1080 picture, planar 4:2:0.
  static let mediumBytes = 3_110_400
  /// The same picture with 4 bytes a pixel.
  static let largeBytes = 8_294_400

  static let timed: [RingScenario] = [
    polling("64 B", smallBytes),
    // 8.3 MB cannot be written 20,000 times a second: only the first 16 bytes are.
    polling("8.3 MB", largeBytes, depth: 2),
    event("64 B at 1 kHz", smallBytes, 1000),
    event("3.1 MB at 60 Hz", mediumBytes, 60, depth: 2),
    event("8.3 MB at 60 Hz", largeBytes, 60, depth: 2),
    pollingRate, losslessRate, eventRate,
    filled("3.1 MB", mediumBytes),
    filled("8.3 MB", largeBytes),
    many(4), many(8), many(16), many(32), many(56),
    idle(0), idle(1), idle(8),
  ]

  static let pollingRate = RingScenario(
    name: "polling rate 64 B", measure: .rate, bytes: smallBytes, traits: .polls)
  static let losslessRate = RingScenario(
    name: "polling rate 64 B, lossless", measure: .rate, bytes: smallBytes,
    traits: [.polls, .lossless])
  static let eventRate = RingScenario(
    name: "event rate 64 B", measure: .rate, bytes: smallBytes, traits: .lossless)

  static let counted: [RingScenario] = [
    RingScenario(
      name: "system calls, awake", measure: .calls, bytes: smallBytes, framesPerSecond: 20_000,
      traits: [.polls, .spins]),
    asleep(1), asleep(8),
  ]

  static func polling(_ size: String, _ bytes: Int, depth: Int = 8) -> RingScenario {
    RingScenario(
      name: "polling latency \(size) at 20 kHz", measure: .latency, bytes: bytes,
      framesPerSecond: 20_000, depth: depth, traits: .polls)
  }

  static func event(
    _ size: String, _ bytes: Int, _ framesPerSecond: Int, depth: Int = 8
  ) -> RingScenario {
    RingScenario(
      name: "event latency \(size)", measure: .latency, bytes: bytes,
      framesPerSecond: framesPerSecond, depth: depth)
  }

  private static func filled(_ size: String, _ bytes: Int) -> RingScenario {
    RingScenario(
      name: "\(size) filled and summed", measure: .rate, bytes: bytes, depth: 2,
      traits: [.fills, .lossless])
  }

  private static func many(_ count: Int) -> RingScenario {
    RingScenario(
      name: "\(count) event-driven subscribers, 64 B at 1 kHz", measure: .latency,
      bytes: smallBytes, framesPerSecond: 1000, subscribers: count)
  }

  static func idle(_ count: Int) -> RingScenario {
    RingScenario(
      name: "publish cost, idle subscribers: \(count)", measure: .cost, bytes: smallBytes,
      subscribers: count, traits: .idles)
  }

  /// Slow enough for every subscriber to fall asleep, even while calls are counted.
  private static func asleep(_ count: Int) -> RingScenario {
    RingScenario(
      name: "system calls, \(count) asleep", measure: .calls, bytes: smallBytes,
      framesPerSecond: 100, subscribers: count, traits: .spins)
  }

  /// The arguments as RingKit.h parses them.
  func arguments(duration: Duration) -> [String] {
    let intervalNs = framesPerSecond == 0 ? 0 : 1_000_000_000 / framesPerSecond
    func flag(_ name: String, _ trait: Traits) -> String {
      "\(name)=\(traits.contains(trait) ? 1 : 0)"
    }
    return [
      "bytes=\(bytes)", "interval_ns=\(intervalNs)", "duration_ns=\(duration.clampedNanoseconds)",
      "subscribers=\(subscribers)", "depth=\(depth)", flag("polls", .polls),
      flag("fills", .fills), flag("lossless", .lossless), flag("idles", .idles),
      flag("spins", .spins), flag("times", .times), flag("works", .works),
      flag("checks", .checks), flag("lists", .lists), flag("receives", .receives),
      flag("opens", .opens),
      "credentials=\(credentials)",
      "lasts=\(measure == .last ? 1 : 0)",
    ]
  }
}
