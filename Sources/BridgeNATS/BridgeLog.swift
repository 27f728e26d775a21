#if Media
  import AppGroup
  import Bridge
  import Platform
  import SharedDefaults
  import SharedLog
  import Synchronization

  /// Sends this machine's lines to the stream of the group's log. One thread runs it.
  ///
  /// The log's own files are the buffer: while the server stores nothing, no line is read. What is
  /// removed from them meanwhile is counted, and so are lines that were dropped when written.
  final class BridgeLog {
    private let core: BridgeCore
    private let link: NATSLink
    private var reader: LogReader?
    /// For each run, its last line that the server has stored.
    private var sent: [String: UInt64] = [:]
    /// Runs of earlier bridges that have had no line yet.
    private var stale: Set<String>?
    private var isChanged = false
    private var saveAt = Deadline.now

    static let mostBytes: Int64 = 512 << 20
    private static let pace = Duration.milliseconds(500)

    init(_ core: BridgeCore, _ link: NATSLink) {
      self.core = core
      self.link = link
      sent = core.state.sentLines()
      stale = Set(sent.keys)
    }

    /// Runs until the stop.
    func run(_ stop: StopSignal) throws {
      let isFirst = sent.isEmpty
      var hasBegun = false
      while !stop.isRaised {
        guard core.group.bridgePolicy.sendsLog, core.isReady.load(ordering: .acquiring) else {
          _ = try waitUntilReadable([stop.descriptorNumber], until: .after(Self.pace))
          continue
        }
        let reader = try reader ?? LogReader(core.group, isFollowing: true)
        self.reader = reader
        if !hasBegun {
          // Lines from before the manifest let the log cross stay here.
          if isFirst { try skip(reader) }
          hasBegun = true
        }
        try sendAll(of: reader, stop)
        // Runs whose files are gone. All others have had a line by now.
        if let stale, !stop.isRaised {
          sent = sent.filter { !stale.contains($0.key) }
          self.stale = nil
        }
        save()
        _ = try reader.wait(stop: stop, until: .after(Self.pace))
      }
      save(isLast: true)
    }

    private func skip(_ reader: LogReader) throws {
      while let entry = try reader.next() {
        if case .line(let record) = entry { sent[record.run.name] = record.sequence }
      }
      isChanged = true
      save(isLast: true)
    }

    private func sendAll(of reader: LogReader, _ stop: StopSignal) throws {
      var batch = newBatch()
      while !stop.isRaised, let entry = try reader.next() {
        guard case .line(let record) = entry else { continue }
        // A bridge that starts again reads all files, and so sees lines that are sent, and gaps
        // that are reported.
        stale?.remove(record.run.name)
        let known = sent[record.run.name] ?? 0
        guard record.sequence > known else { continue }
        let items: [LogBatch.Item] =
          record.sequence > known + 1
          ? [.missing(count: record.sequence - known - 1, run: record.run), .line(record)]
          : [.line(record)]
        for item in items where !batch.add(item) {
          try send(batch, stop)
          batch = newBatch()
          _ = batch.add(item)
        }
        sent[record.run.name] = record.sequence
      }
      if !batch.isEmpty { try send(batch, stop) }
    }

    private func newBatch() -> LogBatch {
      LogBatch(machine: core.machine, clock: core.clock.withLock { $0 })
    }

    /// Sends a batch until the server has stored it. The server recognizes a repetition by its ID.
    private func send(_ batch: LogBatch, _ stop: StopSignal) throws {
      let record = batch.lastLine
      let id = "\(core.machine)/\(record?.run.name ?? "")/\(record?.sequence ?? 0)"
      let bytes = batch.bytes
      var hasWarned = false
      while !stop.isRaised {
        do throws(NATSError) {
          _ = try link.store(
            bytes, in: core.subjects.logStream, as: core.subjects.log(of: core.machine), id: id)
          isChanged = true
          return
        } catch {
          if !hasWarned, link.isConnected { core.warn("the log waits: \(error)") }
          hasWarned = true
          core.work.request(.streams)
          _ = try waitUntilReadable([stop.descriptorNumber], until: .after(Self.pace))
        }
      }
      // Not stored: the next bridge begins with this batch.
      for case .line(let record) in batch.items {
        sent[record.run.name] = min(sent[record.run.name] ?? 0, record.sequence - 1)
      }
    }

    private func save(isLast: Bool = false) {
      guard isChanged, isLast || saveAt.isPast else { return }
      saveAt = .after(.seconds(1))
      isChanged = false
      do throws(DefaultsError) { try core.state.setSentLines(sent) } catch {
        core.warn("the position in the log is not saved: \(error)")
      }
    }
  }
#endif
