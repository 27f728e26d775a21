import Foundation
import Platform

/// A network of a test's own, with loopback alone, or also with a cable to another one. It ends
/// with the process that holds it.
package final class OwnNetwork: Sendable {
  package static let address = "10.9.8.1"
  private let holder: RunningProgram

  /// - Parameters:
  ///   - loopback: the commands that set loopback up.
  ///   - neighbour: the network at the other end of the cable.
  package init(
    loopback: [String] = ["ip link set lo up"], cabledTo neighbour: OwnNetwork? = nil
  ) throws {
    var steps = loopback
    if let neighbour {
      steps += [
        "ip link add own type veth peer name other netns \(neighbour.holder.processID)",
        "ip address add \(Self.address)/30 dev own", "ip link set own up",
        "ip route add default via 10.9.8.2",
      ]
    }
    let script = (steps + ["echo ready", "exec sleep infinity"]).joined(separator: " && ")
    holder = try RunningProgram("unshare", ["--net", "sh", "-c", script])
    try holder.waitForOutput("ready")
    guard let neighbour else { return }
    for step in ["address add 10.9.8.2/30 dev other", "link set other up"] {
      let result = try neighbour.start("ip", step.split(separator: " ").map(String.init)).finish()
      if !result.status.isSuccess { throw HarnessError("ip \(step): \(result.errors)") }
    }
  }

  package func start(
    _ program: String, _ arguments: [String], environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "nsenter",
      ["--net=/proc/\(holder.processID)/ns/net", try pathOfProgram(program)] + arguments,
      environment: environment)
  }

  /// A table of its sockets, such as `tcp` (proc_net_tcp(5)).
  package func table(_ name: String) throws -> String {
    try String(contentsOfFile: "/proc/\(holder.processID)/net/\(name)", encoding: .utf8)
  }
}
