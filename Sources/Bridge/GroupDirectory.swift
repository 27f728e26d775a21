import AppGroup
import Platform
import SharedDefaults

/// The machines of a group and their streams, as this machine's bridge last heard of them.
package struct GroupDirectory: Sendable {
  package struct Entry: Sendable {
    package let report: MachineReport
    /// Whether its bridge is connected.
    package let isPresent: Bool
  }

  /// Sorted by machine.
  package let entries: [Entry]
  private let isKnown: Bool

  private static let maximumMachines = 1024

  package init(of group: AppGroup) throws(DefaultsError) {
    let state = try BridgeState(in: group)
    isKnown = state.connection != nil
    let values = state.machines.storedValues()
    entries = values.compactMap { name, value -> Entry? in
      guard case .dictionary(let entry) = value, case .data(let bytes) = entry["report"],
        let report = MachineReport(parsing: bytes), report.machine.text == name
      else { return nil }
      let isPresent = entry["isPresent"] == .bool(true) && !report.hasLeft
      return Entry(report: report, isPresent: isPresent)
    }.sorted { $0.report.machine < $1.report.machine }
  }

  /// Notes what a machine said, or that it is gone.
  package static func note(
    _ report: MachineReport, isPresent: Bool, in machines: SharedDefaults
  ) throws(DefaultsError) {
    try machines.update { draft in
      guard draft[report.machine.text] != nil || draft.keys.count < maximumMachines else { return }
      draft[report.machine.text] = .dictionary([
        "report": .data(report.bytes), "isPresent": .bool(isPresent),
      ])
    }
  }

  /// Whether a text names a stream of another machine, as `group:MACHINE/STREAM`.
  package static func isReference(_ text: String) -> Bool { text.hasPrefix("group:") }

  /// The address from which a stream of another machine can be captured: SRT if the machine offers
  /// it, because it has the lower delay, or else WHEP.
  package func address(of reference: String) throws(DirectoryError) -> String {
    let parts = reference.dropFirst("group:".count).split(
      separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw .malformed(reference)
    }
    if !isKnown { throw .noBridge }
    guard let entry = entries.first(where: { $0.report.machine.text == parts[0] }) else {
      throw .noMachine(String(parts[0]), entries.map(\.report.machine.text))
    }
    guard entry.isPresent else { throw .gone(String(parts[0])) }
    guard let stream = entry.report.streams.first(where: { $0.name == parts[1] }) else {
      throw .noStream(String(parts[1]), on: String(parts[0]), entry.report.streams.map(\.name))
    }
    let srt = stream.addresses.first { $0.hasPrefix("srt://") }
    guard let address = srt ?? stream.addresses.first else {
      throw .noAddress(String(parts[1]), on: String(parts[0]))
    }
    return address
  }
}

/// Why a stream of another machine has no address.
package enum DirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
  case malformed(String)
  case noBridge
  case noMachine(String, [String])
  case gone(String)
  case noStream(String, on: String, [String])
  case noAddress(String, on: String)

  package var description: String {
    switch self {
    case .malformed(let text):
      "“\(text)” does not have the form group:MACHINE/STREAM; `framebus streams --all-machines`"
        + " lists both"
    case .noBridge:
      "other machines of the group are unknown: no bridge has run here; start one with"
        + " `framebus bridge nats://HOST`"
    case .noMachine(let name, let known):
      "the group has no machine \(name)"
        + (known.isEmpty ? "" : ", only \(known.joined(separator: ", "))")
        + "; see `framebus streams --all-machines`"
    case .gone(let name):
      "the machine \(name) is not connected to the group; start `framebus bridge` there"
    case .noStream(let name, let machine, let known):
      "the machine \(machine) lists no stream \(name)"
        + (known.isEmpty ? "" : ", only \(known.joined(separator: ", "))")
        + "; add it to [bridge.streams] of the manifest there"
    case .noAddress(let name, let machine):
      "the stream \(name) of \(machine) has no address; serve it there, as with"
        + " `framebus upload srt://:PORT`, and add the address to [bridge.streams] of its manifest"
    }
  }
}
