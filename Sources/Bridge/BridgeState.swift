import AppGroup
import Platform
import SharedDefaults

/// The durable state of a machine's bridge: suites of settings that every member can read.
package struct BridgeState: Sendable {
  /// Suites of this prefix never cross; each holds what a suite was when the server last agreed.
  package static let suitePrefix = "framebus.bridge."
  private static let stateSuite = "framebus.bridge"
  private static let machinesSuite = "framebus.machines"

  private let state: SharedDefaults
  package let machines: SharedDefaults

  package init(in group: AppGroup) throws(DefaultsError) {
    state = try SharedDefaults(suiteName: Self.stateSuite, in: group)
    machines = try SharedDefaults(suiteName: Self.machinesSuite, in: group)
  }

  /// This machine's identity, and the number of this start.
  package struct Start: Sendable {
    package let machineID: UInt64
    package let number: UInt64
  }

  /// Counts a start. The machine's ID is made at the first one.
  package func begin() throws(DefaultsError) -> Start {
    var id = 0
    var number = 0
    try state.update { draft in
      if case .integer(let known) = draft["machineID"], known != 0 { id = known }
      if id == 0 { id = Int(bitPattern: UInt.random(in: 1...UInt.max)) }
      if case .integer(let count) = draft["starts"] { number = count }
      number = max(1, number &+ 1)
      draft["machineID"] = .integer(id)
      draft["starts"] = .integer(number)
    }
    return Start(machineID: UInt64(UInt(bitPattern: id)), number: UInt64(number))
  }

  // MARK: The connection, as other programs see it

  /// How the bridge is connected: what `framebus log --all-machines` needs to read the log too.
  package struct Connection: Sendable, Equatable {
    package var server = ""
    package var machine = ""
    package var credential = ""
    package var certificates = ""
    package var isPlain = false
    package var isConnected = false
    package var processID = 0

    package init() {}
  }

  package func set(_ connection: Connection) throws(DefaultsError) {
    try state.set(
      [
        "server": .string(connection.server), "machine": .string(connection.machine),
        "account": .string(connection.credential),
        "certificates": .string(connection.certificates), "isPlain": .bool(connection.isPlain),
        "isConnected": .bool(connection.isConnected), "pid": .integer(connection.processID),
      ], forKey: "connection")
  }

  /// - Returns: nil if no bridge ever ran here.
  package var connection: Connection? {
    guard let values = state.dictionary(forKey: "connection") else { return nil }
    func text(_ key: String) -> String {
      if case .string(let text) = values[key], text.utf8.count <= 1024 { text } else { "" }
    }
    var connection = Connection()
    connection.server = text("server")
    connection.machine = text("machine")
    connection.credential = text("account")
    connection.certificates = text("certificates")
    connection.isPlain = values["isPlain"] == .bool(true)
    connection.isConnected = values["isConnected"] == .bool(true)
    if case .integer(let number) = values["pid"] { connection.processID = number }
    return connection
  }

  // MARK: Lines of the log that were sent

  /// For each run, the number of its last line that the server has stored.
  package func sentLines() -> [String: UInt64] {
    (state.dictionary(forKey: "sentLines") ?? [:]).compactMapValues {
      if case .integer(let number) = $0, number >= 0 { UInt64(number) } else { nil }
    }
  }

  package func setSentLines(_ lines: [String: UInt64]) throws(DefaultsError) {
    try state.set(lines.mapValues { Int(clamping: $0) }, forKey: "sentLines")
  }
}

/// The lock that the one bridge of a group on this machine holds.
package struct BridgeLock: ~Copyable {
  package let directory: Directory
  private let lock: FileLock

  private static let name = "lock"

  /// - Throws: ``BridgeIsRunning`` if another process holds it.
  package static func take(in group: AppGroup) throws -> BridgeLock {
    let directory = try Directory(path: group.bridgePath)
    let taken = try FileLock.take(name, in: directory, ownerID: currentUserID(), until: .now)
    guard let lock = taken else {
      throw BridgeIsRunning(group: group.id, processID: holder(in: group))
    }
    return BridgeLock(directory: directory, lock: lock)
  }

  private init(directory: consuming Directory, lock: consuming FileLock) {
    self.directory = directory
    self.lock = lock
  }

  private static func holder(in group: AppGroup) -> Int? {
    (try? BridgeState(in: group))?.connection?.processID
  }
}

/// A group has one bridge on a machine.
package struct BridgeIsRunning: Error, CustomStringConvertible {
  let group: GroupID
  let processID: Int?

  package var description: String {
    let process = processID.map { $0 > 0 ? " as process \($0)" : "" } ?? ""
    return "the group \(group) already has a bridge on this machine: it runs\(process); stop that"
      + " one first, or use it: what crosses is listed in the group's manifest"
  }
}
