#if Media
  import AppGroup
  import Bridge
  import NotifyCenter
  import Platform
  import Synchronization

  /// The bridge of a group on one machine: its three threads, from start to end.
  package final class GroupBridge {
    private let core: BridgeCore
    private let notes: NoteLoop
    private let link: NATSLink
    private let start: BridgeState.Start
    private let lock: BridgeLock

    /// - Parameters:
    ///   - center: of the role that the bridge takes: it posts what that role may post.
    ///   - report: called on several threads.
    /// - Throws: ``BridgeIsRunning`` if the group has a bridge on this machine.
    package init(
      _ group: AppGroup, _ center: NotifyCenter, as machine: MachineName, _ access: NATSAccess,
      report: @escaping @Sendable (BridgeEvent) -> Void
    ) throws {
      lock = try BridgeLock.take(in: group)
      core = try BridgeCore(group, center, as: machine, access, report: report)
      start = try core.state.begin()
      notes = try NoteLoop(core, in: lock.directory, start)
      link = core.link(named: "state", wake: core.work.counter)
    }

    package var state: BridgeState { core.state }
    package var figures: NoteFigures { notes.figures }

    /// Runs until the stop.
    package func run(_ stop: StopSignal) throws {
      let failure = Mutex<(any Error)?>(nil)
      let ended = try [EventCounter(), EventCounter()]
      let (core, link, notes, start) = (core, link, notes, start)
      @Sendable func part(_ index: Int, _ body: () throws -> Void) {
        do { try body() } catch {
          failure.withLock { $0 = $0 ?? error }
          stop.raise()
        }
        ended[index].raise()
      }
      try startThread(named: "bridge-state") {
        part(0) { try StateLoop(core, link, notes, start).run(stop) }
      }
      try startThread(named: "bridge-log") { part(1) { try BridgeLog(core, link).run(stop) } }
      do { try notes.run(stop) } catch {
        failure.withLock { $0 = $0 ?? error }
        stop.raise()
      }
      for counter in ended {
        _ = try waitUntilReadable([counter.number], until: .after(.seconds(10)))
      }
      if let error = failure.withLock({ $0 }) { throw error }
    }
  }
#endif
