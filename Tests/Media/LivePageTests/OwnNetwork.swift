#if Media
  import TestSupport
  import Testing

  /// A network of a test's own, with loopback alone, or also with a cable to another one. It ends
  /// with the process that holds it.
  final class OwnNetwork {
    static let address = "10.9.8.1"
    private let holder: RunningProgram

    /// - Parameter neighbour: the network at the other end of the cable.
    init(cabledTo neighbour: OwnNetwork? = nil) throws {
      var steps = ["ip link set lo up"]
      if let neighbour {
        steps += [
          "ip link add own type veth peer name other netns \(neighbour.holder.processID)",
          "ip address add \(Self.address)/30 dev own", "ip link set own up",
          "ip route add default via 10.9.8.2",
        ]
      }
      let script = (steps + ["echo ready", "exec sleep infinity"]).joined(separator: " && ")
      holder = try RunningProgram("unshare", ["-n", "sh", "-c", script])
      try holder.waitForOutput("ready")
      guard let neighbour else { return }
      for step in ["address add 10.9.8.2/30 dev other", "link set other up"] {
        let words = step.split(separator: " ").map(String.init)
        #expect(try neighbour.start("ip", words).finish().status == .exited(0))
      }
    }

    func start(
      _ program: String, _ arguments: [String], environment: [String: String?] = [:]
    ) throws -> RunningProgram {
      try RunningProgram(
        "nsenter",
        ["-t", "\(holder.processID)", "-n", try pathOfProgram(program)] + arguments,
        environment: environment)
    }
  }
#endif
