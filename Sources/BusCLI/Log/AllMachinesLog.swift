import AppGroup
import Bridge
import CommandLineSupport
import Platform
import SharedLog

/// The log of all machines of a group, as the server of its bridge has it: a confined
/// `framebus-bridge` reads it, and this process filters and shows it.
struct AllMachinesLog: ~Copyable {
  private let role: ConfinedBridge
  private let lines: Descriptor
  private let terminal: Terminal

  /// - Parameter sinceNs: by the server's clock, in nanoseconds since 1970; 0 for all.
  init(of group: AppGroup, _ global: GlobalOptions, sinceNs: UInt64, follows: Bool) throws {
    guard let known = try BridgeState(in: group).connection, !known.server.isEmpty else {
      throw DirectoryError.noBridge
    }
    var arguments = ["--read-log", "--since=\(sinceNs)"] + (follows ? ["--follow"] : [])
    if !known.credential.isEmpty { arguments.append("--credential=\(known.credential)") }
    if !known.certificates.isEmpty { arguments.append("--ca=\(known.certificates)") }
    if known.isPlain, !known.server.hasPrefix("tls") { arguments.append("--plain") }
    // As the bridge of this group wrote it; parsed like a user's.
    let bridge = try BridgeOptions.parse(
      arguments.filter { $0.hasPrefix("--credential") || $0.hasPrefix("--ca") || $0 == "--plain" }
        + ["--", known.server])
    let pipe = try OneWayPipe()
    let place = ["--group=\(group.id)"] + (global.root.map { ["--root=\($0)"] } ?? [])
    role = try ConfinedBridge(
      bridge, StoreOptions.parse([]), global, in: group,
      arguments: arguments + place + ["--", known.server], output: pipe.writeEnd.number)
    lines = pipe.takeReadEnd()
    terminal = global.terminal
  }

  /// Passes on each new line, until the program ends or the stop is raised.
  func run(
    _ signals: SignalWatcher, flush: () throws -> Void,
    _ body: (LogRecord, LogMachine) throws -> Void
  ) throws {
    var bytes: [UInt8] = []
    var seen = SeenLines()
    var clocks: [MachineName: ClockOffset] = [:]
    while true {
      let ready = try waitUntilReadable(
        [signals.stop.descriptorNumber, lines.number], until: .never)
      if ready[0] { break }
      let some = try readSome(lines.number)
      if some.isEmpty { break }
      bytes += some
      while let (batch, byteCount) = Self.batch(in: bytes) {
        bytes.removeFirst(byteCount)
        if let batch { try show(batch, &seen, &clocks, body) }
      }
      if bytes.count > 2 * LogBatch.maximumBytes { throw MalformedLog() }
      try flush()
    }
    try role.run(signals)
  }

  /// The first complete batch, nil for malformed ones and for the mark between old and new lines.
  private static func batch(in bytes: [UInt8]) -> (batch: LogBatch?, byteCount: Int)? {
    guard bytes.count >= 4 else { return nil }
    let count = Int(UInt32(littleEndian: bytes[..<4]))
    guard bytes.count >= 4 + count else { return nil }
    return (LogBatch(parsing: Array(bytes[4..<4 + count])), 4 + count)
  }

  private func show(
    _ batch: LogBatch, _ seen: inout SeenLines, _ clocks: inout [MachineName: ClockOffset],
    _ body: (LogRecord, LogMachine) throws -> Void
  ) throws {
    sayClock(batch, &clocks)
    let machine = LogMachine(name: batch.machine.text, clockAheadNs: batch.clock?.aheadNs)
    var gap: (count: UInt64, run: String)?
    for item in batch.items {
      switch item {
      case .missing(let count, let run): gap = (count, run.name)
      case .line(let record):
        let known = gap
        gap = nil
        var missing: UInt64
        switch seen.place(record, of: batch.machine) {
        // A gap belongs to the line after it, with which it arrives twice.
        case .repeated: continue
        case .first: missing = known?.run == record.run.name ? known?.count ?? 0 : 0
        // Also what the server removed before it was read.
        case .next(let count): missing = count
        }
        if missing > 0 {
          terminal.warn(
            "\(missing) lines of \(batch.machine)/\(record.run.role) (pid \(record.run.pid)) are"
              + " missing")
        }
        try body(record, machine)
      }
    }
  }

  /// Says how far a machine's clock is off, when it is first known and when it moves.
  private func sayClock(_ batch: LogBatch, _ clocks: inout [MachineName: ClockOffset]) {
    guard let clock = batch.clock else { return }
    if let known = clocks[batch.machine] {
      let moved = known.aheadNs.subtractingReportingOverflow(clock.aheadNs).partialValue
      if moved.magnitude < 100_000_000 { return }
    } else if clocks.count >= 1024 {
      return
    }
    clocks[batch.machine] = clock
    terminal.report("the clock of \(batch.machine) is \(clock.text)")
  }
}

/// The machine that a line comes from.
struct LogMachine {
  let name: String
  /// How far its wall clock is ahead of the server's; nil if not known.
  let clockAheadNs: Int64?
}

private struct MalformedLog: Error, CustomStringConvertible {
  var description: String { "framebus-bridge wrote a batch of lines that is too long" }
}
