import Platform

/// What the processes of one turn do: a row of the ring suite.
struct RingScenario: Sendable {
  /// Which figure the row is about.
  enum Measure: Sendable {
    /// From a filled frame to a subscriber that can read it.
    case latency
    /// How many frames a subscriber receives.
    case rate
    /// What a loan and its publication, or a post, take the publisher.
    case cost
    /// From a post to the last of all subscribers.
    case last
    /// How many frames a publisher publishes, whoever receives how many.
    case posts
    /// How many calls of the kernel the publisher and one subscriber make for a frame.
    case calls
  }

  struct Traits: OptionSet, Sendable {
    let rawValue: Int
    /// Both sides spin; else they sleep.
    static let polls = Traits(rawValue: 1)
    /// Every byte is written and summed; else the first 16.
    static let fills = Traits(rawValue: 2)
    /// The publisher waits for its subscribers, so that every frame arrives.
    static let lossless = Traits(rawValue: 4)
    /// The subscribers are attached and do nothing.
    static let idles = Traits(rawValue: 8)
    /// The publisher makes no call to wait until a frame is due.
    static let spins = Traits(rawValue: 16)
    /// The publisher takes the time of each call by itself, also while subscribers sleep.
    static let times = Traits(rawValue: 32)
    /// The subscribers work for a millisecond on each frame.
    static let works = Traits(rawValue: 64)
    /// The publisher asks whether something was published, instead of publishing.
    static let checks = Traits(rawValue: 128)
    /// The publisher lists credentials, instead of opening one.
    static let lists = Traits(rawValue: 256)
  }

  let name: String
  let measure: Measure
  let bytes: Int
  var framesPerSecond = 0
  var subscribers = 1
  /// Frames that may be under way, where a subject lets one choose.
  var depth = 8
  var traits: Traits = []
  /// How many there are, where credentials are opened instead of frames published.
  var credentials = 0

  static let smallBytes = 64
  /// A picture of 1920×1080 pixels, planar 4:2:0.
  static let mediumBytes = 3_110_400
  /// The same picture, 4 bytes a pixel.
  static let largeBytes = 8_294_400

  static let timed: [RingScenario] = [
    polling("64 B", smallBytes),
    // Nobody writes 8.3 MB 20,000 times a second: only the first 16 bytes are.
    polling("8.3 MB", largeBytes, depth: 2),
    event("64 B at 1 kHz", smallBytes, 1000),
    event("3.1 MB at 60 Hz", mediumBytes, 60, depth: 2),
    event("8.3 MB at 60 Hz", largeBytes, 60, depth: 2),
    RingScenario(name: "polling rate 64 B", measure: .rate, bytes: smallBytes, traits: .polls),
    RingScenario(
      name: "polling rate 64 B, lossless", measure: .rate, bytes: smallBytes,
      traits: [.polls, .lossless]),
    RingScenario(name: "event rate 64 B", measure: .rate, bytes: smallBytes, traits: .lossless),
    filled("3.1 MB", mediumBytes),
    filled("8.3 MB", largeBytes),
    many(4), many(8),
    idle(0), idle(1), idle(8),
  ]

  static let counted: [RingScenario] = [
    RingScenario(
      name: "system calls, awake", measure: .calls, bytes: smallBytes, framesPerSecond: 20_000,
      traits: [.polls, .spins]),
    asleep(1), asleep(8),
  ]

  private static func polling(_ size: String, _ bytes: Int, depth: Int = 8) -> RingScenario {
    RingScenario(
      name: "polling latency \(size) at 20 kHz", measure: .latency, bytes: bytes,
      framesPerSecond: 20_000, depth: depth, traits: .polls)
  }

  private static func event(
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

  private static func idle(_ count: Int) -> RingScenario {
    RingScenario(
      name: "publish cost, idle subscribers: \(count)", measure: .cost, bytes: smallBytes,
      subscribers: count, traits: .idles)
  }

  /// Slow enough for everybody to fall asleep, also while each call is counted.
  private static func asleep(_ count: Int) -> RingScenario {
    RingScenario(
      name: "system calls, \(count) asleep", measure: .calls, bytes: smallBytes,
      framesPerSecond: 100, subscribers: count, traits: .spins)
  }

  /// What RingKit.h reads.
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
      flag("checks", .checks), flag("lists", .lists), "credentials=\(credentials)",
      "lasts=\(measure == .last ? 1 : 0)",
    ]
  }
}
