#if Media
  import AppGroup
  import Bridge
  import FrameBus
  import Platform
  import SharedDefaults

  /// Tells the other machines about this one, and keeps what they tell.
  final class MachineDirectory {
    private let core: BridgeCore
    private let link: NATSLink
    private let start: BridgeState.Start
    private let inspector: StreamInspector
    private var reportAt = Deadline.now
    /// The streams of the last report, and when the next one is due if they stay the same.
    private var reported: (streams: [MachineReport.Stream], repeatAt: Deadline)?
    private var isNameChecked = false
    private var seen: [MachineName: Seen] = [:]

    private struct Seen {
      var report: MachineReport
      var heardAtNs: UInt64
      var isPresent: Bool
    }

    /// How often this machine's streams are looked at.
    private static let interval = Duration.seconds(5)
    private static let longestRepeatNs: UInt64 = 30_000_000_000
    private static let nsPerMachine: UInt64 = 250_000_000
    private static let mostMachines = 1024
    /// How many the server may name at once, with those that are refused.
    private static let mostReports: UInt64 = 4096
    /// A clock that moves by less is not noted.
    private static let noticedClockNs: UInt64 = 10_000_000

    init(_ core: BridgeCore, _ link: NATSLink, _ start: BridgeState.Start) {
      self.core = core
      self.link = link
      self.start = start
      inspector = StreamInspector(core.group)
    }

    private var stream: String { "KV_" + core.subjects.machineBucket }
    private var ownSubject: String { core.subjects.report(of: core.machine) }

    /// How often a report without news is sent. Each machine receives those of all others, so more
    /// machines send them less often: a machine receives 4 a second at most.
    private var repeatNs: UInt64 {
      let count = UInt64(seen.count)
      let shortestNs = max(Self.interval.clampedNanoseconds, count * Self.nsPerMachine)
      return min(shortestNs, Self.longestRepeatNs)
    }
    /// A machine that says nothing for so long is gone.
    private var lifetimeNs: UInt64 { 4 * repeatNs }

    // MARK: This machine

    /// Stores this machine's report, if it is time to, and measures its clock by that.
    func report() throws {
      guard reportAt.isPast else { return }
      let streams = try streams()
      if let reported, reported.streams == streams, !reported.repeatAt.isPast {
        reportAt = min(.after(Self.interval), reported.repeatAt)
        return
      }
      let present = isNameChecked ? nil : try newest()
      var report = MachineReport(machine: core.machine, machineID: start.machineID)
      report.clock = core.clock.withLock { $0 }
      report.streams = streams
      let beforeNs = wallNowNs()
      guard let sequence = try link.store(report.bytes, in: stream, as: ownSubject) else { return }
      let afterNs = wallNowNs()
      guard let stored = try newest(), stored.sequence == sequence else { return }
      let clock = ClockOffset(beforeNs: beforeNs, serverNs: stored.serverNs, afterNs: afterNs)
      let isFirst = core.clock.withLock { known in
        defer { known = clock }
        return known == nil
      }
      try checkName(present, stored)
      // The first report lacks the clock that it was needed to measure.
      reportAt = isFirst ? .now : .after(Self.interval)
      reported = isFirst ? nil : (streams, max(reportAt, .afterNs(repeatNs)))
    }

    /// The server has lost the last report.
    func repeatReport() {
      reported = nil
      reportAt = .now
    }

    private func newest() throws -> NATSMessage? {
      try link.newest(in: stream, ownSubject, atMost: MachineReport.maximumBytes)
    }

    /// Refuses a name under which another machine is connected. Both times are the server's.
    private func checkName(_ present: NATSMessage?, _ own: NATSMessage) throws(MachineNameTaken) {
      isNameChecked = true
      guard let present, let report = MachineReport(parsing: present.bytes),
        report.machineID != start.machineID, !report.hasLeft,
        own.serverNs &- present.serverNs < lifetimeNs
      else { return }
      throw MachineNameTaken(machine: core.machine)
    }

    private func streams() throws -> [MachineReport.Stream] {
      let allowed = core.group.bridgePolicy.streams
      if allowed.isEmpty { return [] }
      return try inspector.poll(timeout: .milliseconds(500)).compactMap { found in
        guard let addresses = allowed[found.name.text] else { return nil }
        guard case .answered(let status) = found else {
          return .init(name: found.name.text, state: "silent", format: "", addresses: addresses)
        }
        let format = status.format.map { "\($0)" } ?? ""
        return .init(
          name: status.name.text, state: status.state.rawValue, format: format,
          addresses: addresses)
      }
    }

    /// Says that this machine's bridge ends.
    func leave() {
      guard link.isConnected, isNameChecked else { return }
      var report = MachineReport(machine: core.machine, machineID: start.machineID)
      report.hasLeft = true
      _ = try? link.store(report.bytes, in: stream, as: ownSubject)
    }

    // MARK: The other machines

    /// Reads the reports of all machines.
    func readAll() throws {
      let found = try link.follow(
        stream, BridgeSubjects.allKeys(of: core.subjects.machineBucket), from: .newestOnly)
      var left = min(found.pending, Self.mostReports)
      var reports: [MachineReport] = []
      while left > 0 {
        guard
          case .message(let message) = found.listener.next(
            within: .seconds(3), atMost: MachineReport.maximumBytes)
        else { throw NATSError(description: "the server did not send the list of machines") }
        left = min(left - 1, message.pending)
        if let report = core.report(message) { reports.append(report) }
        if reports.count >= Self.mostMachines { break }
      }
      note(reports)
    }

    /// Notes what machines said, and which ones are gone.
    func note(_ reports: [MachineReport]) {
      let nowNs = monotonicNowNs()
      for report in reports {
        guard seen[report.machine] != nil || seen.count < Self.mostMachines else { continue }
        let known = seen.updateValue(
          Seen(report: report, heardAtNs: nowNs, isPresent: !report.hasLeft),
          forKey: report.machine)
        if let known, known.isPresent == !report.hasLeft, isSame(known.report, report) { continue }
        save(report, isPresent: !report.hasLeft)
      }
      for (machine, known) in seen
      where known.isPresent && nowNs &- known.heardAtNs > lifetimeNs {
        seen[machine]?.isPresent = false
        save(known.report, isPresent: false)
      }
    }

    private func isSame(_ one: MachineReport, _ other: MachineReport) -> Bool {
      var alike = other
      alike.clock = one.clock
      guard alike == one, (one.clock == nil) == (other.clock == nil) else { return false }
      let moved = (one.clock?.aheadNs ?? 0).subtractingReportingOverflow(other.clock?.aheadNs ?? 0)
      return moved.partialValue.magnitude < Self.noticedClockNs
    }

    private func save(_ report: MachineReport, isPresent: Bool) {
      do throws(DefaultsError) {
        try GroupDirectory.note(report, isPresent: isPresent, in: core.state.machines)
      } catch {
        core.warn("the list of machines is not saved: \(error)")
      }
    }
  }

  /// Two machines of a group have one name.
  package struct MachineNameTaken: Error, CustomStringConvertible {
    let machine: MachineName

    package var description: String {
      "another machine of the group is connected as \(machine); choose another name with --machine"
    }
  }
#endif
