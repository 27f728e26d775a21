import Bridge

/// The JSON form of a machine of the group. Field names are a stable interface.
struct MachineRecord: Encodable {
  struct Stream: Encodable {
    let name: String
    let state: String
    let format: String
    /// Addresses from which it can be captured, and the source that picks one of them.
    let addresses: [String]
    let source: String
  }

  let machine: String
  let isPresent: Bool
  /// How far its wall clock is ahead of the server's; left out if it is not known.
  let clockAheadNs: Int64?
  let clockErrorNs: UInt64?
  let streams: [Stream]

  init(_ entry: GroupDirectory.Entry) {
    machine = entry.report.machine.text
    isPresent = entry.isPresent
    clockAheadNs = entry.report.clock?.aheadNs
    clockErrorNs = entry.report.clock?.errorNs
    streams = entry.report.streams.map { stream in
      Stream(
        name: stream.name, state: stream.state, format: stream.format,
        addresses: stream.addresses, source: "group:\(entry.report.machine)/\(stream.name)")
    }
  }
}
