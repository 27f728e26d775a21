import CommandLineSupport
import Platform

/// A way to transfer frames between processes: a program that takes the arguments of RingKit.h, run
/// once as publisher and once as each subscriber.
struct RingSubject: Sendable {
  let name: String
  let path: String
  /// Further arguments of RingKit.h.
  var arguments: [String] = []
  /// A program that runs during all turns of the subject.
  var daemon: Daemon?
  /// Whether a subscriber can poll without waiting.
  var canPoll = true
  /// Whether its frames are in shared memory, so that their size costs nothing.
  var sharesMemory = true
  /// Whether a publisher continues while subscribers receive nothing.
  var ignoresIdle = true
  /// Whether other processes are notified.
  var notifies = true
  /// Whether an observer can check for a post without a system call.
  var canCheck = false
  /// The number of credentials that can be stored in acceptable time.
  var maximumCredentials = Int.max
  /// Whether it queues each post for observers that are too slow.
  var queues = false

  struct Daemon: Sendable {
    let name: String
    let path: String
    let arguments: [String]
    /// Text in its output when it is ready.
    let greeting: String
  }

  /// Peers may be missing or broken; FrameBus and the baseline may not.
  var isPeer: Bool { !["framebus", "limit", "c", "swift"].contains(name) }

  func supports(_ scenario: RingScenario) -> Bool {
    if scenario.traits.contains(.polls), !canPoll { return false }
    if scenario.traits.contains(.idles), !ignoresIdle { return false }
    if scenario.subscribers > 0, !notifies { return false }
    if scenario.traits.contains(.checks), !canCheck { return false }
    if scenario.traits.contains(.works), queues { return false }
    if scenario.credentials > maximumCredentials { return false }
    // 8.3 MB copied 20,000 times a second exceeds the bandwidth of memory.
    let isFast = scenario.framesPerSecond > 1000 && scenario.bytes > RingScenario.smallBytes
    return sharesMemory || !isFast
  }

  static func framebus() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "framebus", path: try own("BusRing", for: "framebus"))
  }

  static func limit() throws(MissingSubject) -> RingSubject {
    RingSubject(name: "limit", path: try own("BareRing", for: "limit"))
  }

  /// Programs of other projects, and FrameBus through its C interface.
  enum Peer: CaseIterable {
    case framebusInC, iceoryx, gstreamer, zeroMQ, socket
  }

  static func peer(_ peer: Peer) throws(MissingSubject) -> RingSubject {
    switch peer {
    case .framebusInC:
      RingSubject(name: "framebus-c", path: try program("FrameBusRing", for: "framebus-c"))
    case .iceoryx: try iceoryx()
    case .gstreamer: try gstreamer()
    case .zeroMQ: try zeroMQ()
    case .socket: try socket()
    }
  }

  private static func iceoryx() throws(MissingSubject) -> RingSubject {
    let name = "iceoryx"
    guard let roudi = programInPath(named: "iox-roudi") else {
      throw MissingSubject(
        subject: name, program: "iox-roudi", remedy: "install it: apt-get install iceoryx")
    }
    let path = try program("IceoryxRing", for: name)
    let daemon = Daemon(
      name: "iox-roudi", path: roudi, arguments: ["-c", path + ".toml"],
      greeting: "RouDi is ready for clients")
    return RingSubject(name: name, path: path, daemon: daemon)
  }

  private static func gstreamer() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "gstreamer-shm", path: try program("GStreamerRing", for: "gstreamer-shm"),
      canPoll: false, ignoresIdle: false)
  }

  private static func zeroMQ() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "zeromq", path: try program("ZeroMQRing", for: "zeromq"), sharesMemory: false,
      ignoresIdle: false)
  }

  private static func socket() throws(MissingSubject) -> RingSubject {
    RingSubject(
      name: "socket", path: try program("SocketRing", for: "socket"), sharesMemory: false,
      ignoresIdle: false)
  }

  static func own(
    _ program: String, for name: String
  ) throws(MissingSubject) -> String {
    if let path = siblingProgram(named: program) { return path }
    throw MissingSubject(
      subject: name, program: program,
      remedy: "build it: swift build -c release --product \(program)")
  }

  static func program(
    _ program: String, for name: String
  ) throws(MissingSubject) -> String {
    if let path = siblingProgram(named: program) { return path }
    throw MissingSubject(subject: name, program: program, remedy: "build it: scripts/peers")
  }
}
