#if Media
  import Foundation
  import Platform
  import TestSupport

  /// A network of its own (`ip-netns(8)`), joined to the machine's by a cable that a test can
  /// damage.
  final class NetworkNamespace: Sendable {
    /// The address at its end of the cable.
    let address: String
    private let name: String
    private let cable: String

    init() throws {
      let number = UInt32.random(in: 0...0xFF_FFFF)
      name = "framebus-\(String(number, radix: 16))"
      cable = "fb\(String(number, radix: 16))"
      // Of four addresses two are for hosts.
      let network = "10.\(64 + number >> 16 & 63).\(number >> 8 & 255)"
      let first = number & 0xFC
      address = "\(network).\(first + 2)"
      try output(of: "ip", ["netns", "add", name])
      for words in [
        "link add \(cable) type veth peer name inner netns \(name)",
        "address add \(network).\(first + 1)/30 dev \(cable)", "link set \(cable) up",
        "-n \(name) address add \(address)/30 dev inner", "-n \(name) link set inner up",
        "-n \(name) link set lo up",
      ] { try output(of: "ip", words.split(separator: " ").map(String.init)) }
    }

    deinit {
      for words in [["link", "delete", cable], ["netns", "delete", name]] {
        _ = try? run("ip", words)
      }
    }

    /// The words before a program that is to run within.
    var prefix: [String] { ["netns", "exec", name] }

    func start(_ program: String, _ arguments: [String]) throws -> RunningProgram {
      try RunningProgram("ip", prefix + [program] + arguments)
    }

    /// From here on this share of all datagrams is lost, in both directions.
    func loseDatagrams(_ share: Double) throws {
      let chance = ["-m", "statistic", "--mode", "random", "--probability", "\(share)"]
      try drop(share > 0 ? ["-p", "udp"] + chance : nil)
    }

    /// From here on nothing comes through, and nobody is told.
    func cut() throws { try drop([]) }

    func mend() throws { try drop(nil) }

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
#endif
