import Foundation
import Platform

/// A network namespace (`ip-netns(8)`), connected to the machine's by a link that a test can
/// disturb.
package final class NetworkNamespace: Sendable {
  /// The address at the namespace's end of the link.
  package let address: String
  /// The address at the machine's end.
  package let machineAddress: String
  private let name: String
  private let cable: String
  /// The program that is the link; nil for a plain one.
  private let link: RunningProgram?
  private let linkInput: Descriptor

  /// - Parameter settings: makes a link that can be slow, with these settings of
  ///   Tests/Tools/link.py.
  package init(slowLink settings: [String]? = nil) throws {
    let number = UInt32.random(in: 0...0xFF_FFFF)
    name = "framebus-\(String(number, radix: 16))"
    cable = "fb\(String(number, radix: 16))"
    // Two of four addresses are for hosts.
    let network = "10.\(64 + number >> 16 & 63).\(number >> 8 & 255)"
    let first = number & 0xFC
    address = "\(network).\(first + 2)"
    machineAddress = "\(network).\(first + 1)"
    try output(of: "ip", ["netns", "add", name])
    let plain = [
      "link add \(cable) type veth peer name inner netns \(name)",
      "address add \(machineAddress)/30 dev \(cable)", "link set \(cable) up",
      "-n \(name) address add \(address)/30 dev inner", "-n \(name) link set inner up",
    ]
    for words in ["-n \(name) link set lo up"] + (settings == nil ? plain : []) {
      try output(of: "ip", words.split(separator: " ").map(String.init))
    }
    let pipe = try OneWayPipe()
    if let settings {
      let ends = [name, cable, machineAddress, address]
      link = try RunningProgram(
        "/usr/bin/python3", [tool("link.py")] + ends + settings,
        input: .descriptor(pipe.readEnd.number))
    } else {
      link = nil
    }
    linkInput = pipe.takeWriteEnd()
    try link?.waitForOutput("ready")
  }

  deinit {
    for words in [["link", "delete", cable], ["netns", "delete", name]] {
      _ = try? run("ip", words)
    }
  }

  /// The command prefix that runs a program in the namespace.
  package var prefix: [String] { ["netns", "exec", name] }

  package func start(
    _ program: String, _ arguments: [String], environment: [String: String?] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      "ip", prefix + [try pathOfProgram(program)] + arguments, environment: environment)
  }

  /// - Parameter files: further configurations, by their names.
  package func startJanus(
    in root: TemporaryRoot, _ files: KeyValuePairs<String, String> = [:]
  ) throws -> RunningProgram {
    let folder = root.file("janus")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, text) in [
      ("janus", "general: { debug_level = 4 }"),
      ("janus.transport.http", "general: { http = true\n port = 8088\n ip = \"127.0.0.1\" }"),
    ] + files.map({ ($0.key, $0.value) }) {
      try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name).jcfg"))
    }
    let janus = try start(
      "janus", ["-F", folder, "-C", folder + "/janus.jcfg", "--disable-colors"])
    try janus.waitForOutput("HTTP webserver started")
    return janus
  }

  /// Changes a setting of the slow link.
  package func set(_ name: String, _ value: Int) throws {
    if link == nil { throw HarnessError("the link is a plain one") }
    try writeFully(Array("\(name)=\(value)\n".utf8), to: linkInput.number)
  }

  /// The bytes that this side has sent into the link.
  package var sentBytes: Int {
    get throws {
      let path = "/sys/class/net/\(cable)/statistics/tx_bytes"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      return Int(text.prefix { $0.isNumber }) ?? 0
    }
  }

  /// The packets that this side has sent into the link and that did not arrive.
  package func lostCount() throws -> Int {
    func count(_ words: [String]) throws -> Int {
      Int(try output(of: words[0], Array(words.dropFirst())).filter(\.isNumber)) ?? 0
    }
    let folder = "/sys/class/net"
    let sent = try count(["cat", "\(folder)/\(cable)/statistics/tx_packets"])
    let arrived = try count(["ip"] + prefix + ["cat", "\(folder)/inner/statistics/rx_packets"])
    return sent - arrived
  }

  /// Drops this share of all datagrams from now on, in both directions.
  package func loseDatagrams(_ share: Double) throws {
    let chance = ["-m", "statistic", "--mode", "random", "--probability", "\(share)"]
    try drop(share > 0 ? ["-p", "udp"] + chance : nil)
  }

  /// Silently drops all packets from now on.
  package func cut() throws { try drop([]) }

  package func mend() throws { try drop(nil) }

  private func drop(_ which: [String]?) throws {
    try output(of: "ip", prefix + ["iptables", "-w", "-F"])
    guard let which else { return }
    for (chain, side) in [("INPUT", "-i"), ("OUTPUT", "-o")] {
      try output(
        of: "ip",
        prefix + ["iptables", "-w", "-A", chain, side, "inner"] + which + ["-j", "DROP"])
    }
  }
}
