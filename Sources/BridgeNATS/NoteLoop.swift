#if Media
  import AppGroup
  import Bridge
  import NotifyCenter
  import Platform
  import Synchronization

  /// Carries notifications: one thread reads the socket and posts, and the thread that learns of a
  /// local post writes it to the socket itself. Nothing else waits between both ends.
  final class NoteLoop: Sendable {
    private let core: BridgeCore
    private let link: NATSLink
    private let exchange: NoteExchange
    private let wake: EventCounter
    private let inbox: String

    /// What one connection receives.
    private struct Listeners {
      let notes: NATSListener
      let acknowledgements: NATSListener
      /// Changes of settings and of other machines, of which only the fact counts here.
      let suites: NATSListener
      let machines: NATSListener
    }

    /// Notes that wait here at most; the server keeps the newest of each name.
    private static let mostNotes: Int32 = 4096
    private static let mostPerRound = 1024
    private static let acknowledgementBytes = 1024
    private static let pace = Duration.seconds(1)

    init(_ core: BridgeCore, in directory: borrowing Directory, _ start: BridgeState.Start) throws {
      self.core = core
      wake = try EventCounter()
      let link = core.link(named: "notes", wake: wake, isDriven: true)
      self.link = link
      let inbox = "_INBOX.framebus-" + String(UInt64.random(in: 0 ... .max), radix: 36)
      self.inbox = inbox
      let prefix = core.subjects.notes(of: core.machine)
      exchange = try NoteExchange(
        core.center, in: directory, as: core.machine, machineID: start.machineID,
        start: start.number
      ) { note in
        guard link.isConnected else { return false }
        return link.publish(
          note.bytes, to: prefix + BridgeSubjects.token(note.name),
          reply: "\(inbox).\(note.position)")
      }
      // Before anything is said of a connection: every post from then on crosses. Refusals are said
      // when this is done again.
      _ = exchange.follow(core.group.bridgePolicy.notifications)
    }

    private func listen() throws(NATSError) -> Listeners {
      let subjects = core.subjects
      return Listeners(
        notes: try link.listen(
          to: subjects.allNotes, mostMessages: Self.mostNotes, mostBytes: 4 << 20),
        acknowledgements: try link.listen(
          to: inbox + ".*", mostMessages: Self.mostNotes, mostBytes: 1 << 20),
        suites: try link.listen(
          to: BridgeSubjects.allKeys(of: subjects.suiteBucket), mostMessages: 256,
          mostBytes: 16 << 20),
        machines: try link.listen(
          to: BridgeSubjects.allKeys(of: subjects.machineBucket), mostMessages: 1024,
          mostBytes: 8 << 20))
    }

    var figures: NoteFigures { exchange.figures }
    var failure: NATSFailure? { link.failure }
    var isConnected: Bool { link.isConnected }

    /// Runs until the stop.
    /// - Throws: what keeps the first connection from being made, if it will not pass by itself.
    func run(_ stop: StopSignal) throws {
      var listeners: Listeners?
      var connections: UInt64 = 0
      var due = Deadline.now
      var warnings: Set<String> = []
      while !stop.isRaised {
        if due.isPast {
          let names = core.group.bridgePolicy.notifications
          for why in exchange.follow(names) where warnings.insert(why).inserted { core.warn(why) }
          exchange.resend(unacknowledgedFor: 1_000_000_000)
          core.sayRefusals(of: link)
          due = .after(Self.pace)
        }
        guard try link.connectIfDue() else {
          listeners = nil
          _ = try waitUntilReadable([stop.descriptorNumber], until: min(due, link.retryAt))
          continue
        }
        if listeners == nil || link.connectionCount != connections {
          connections = link.connectionCount
          listeners = try? begin()
        }
        guard let listeners else {
          _ = try waitUntilReadable([stop.descriptorNumber], until: .after(.milliseconds(50)))
          continue
        }
        if try link.drive(stop: stop.descriptorNumber, wake: wake.number, until: due) {
          wake.lower()
        }
        takeNotes(listeners.notes)
        takeAcknowledgements(listeners.acknowledgements)
        takeDoorbells(listeners)
      }
    }

    /// Begins with a new connection. A message to this bridge itself says when the server has begun
    /// to send notes: what it stored before that is read from its stream.
    private func begin() throws(NATSError) -> Listeners {
      let listeners = try listen()
      link.publish([], to: inbox + Self.begun)
      exchange.resend(unacknowledgedFor: 0)
      return listeners
    }

    private static let begun = ".0"

    private func takeNotes(_ notes: NATSListener) {
      while true {
        var batch: [Note] = []
        var isInterrupted = false
        taking: while batch.count < Self.mostPerRound {
          switch notes.next({ core.note($1, under: $0) }) {
          case .value(let note):
            if let note { batch.append(note) }
          case .nothing: break taking
          case .interrupted:
            isInterrupted = true
            break taking
          }
        }
        if !batch.isEmpty { exchange.receive(batch) }
        // The server has the newest note of each name that was dropped here.
        if isInterrupted { core.work.request(.catchUp) }
        if batch.count < Self.mostPerRound { return }
      }
    }

    private func takeAcknowledgements(_ acknowledgements: NATSListener) {
      while case .message(let message) = acknowledgements.next(atMost: Self.acknowledgementBytes) {
        guard let word = message.subject.split(separator: ".").last, let position = UInt64(word)
        else { continue }
        if position == 0 {
          core.work.request(.catchUp)
          continue
        }
        let isStored = !message.isUnhandled && isAcknowledgement(message.bytes)
        if isStored { exchange.acknowledge(position) } else { core.work.request(.streams) }
      }
    }

    /// The server answers with an object of JSON, which has a member “error” if it stored nothing.
    private func isAcknowledgement(_ bytes: [UInt8]) -> Bool {
      let text = String(decoding: bytes, as: UTF8.self)
      return text.hasPrefix("{") && text.contains("\"seq\"") && !text.contains("\"error\"")
    }

    private func takeDoorbells(_ listeners: Listeners) {
      while case .message(let message) = listeners.suites.next(atMost: 0) {
        core.work.request(.suite(String(message.subject.split(separator: ".").last ?? "")))
      }
      while case .message(let message) = listeners.machines.next(
        atMost: MachineReport.maximumBytes)
      {
        if let report = core.report(message) { core.work.note(report) }
      }
    }

    /// Delivers the newest note of each name and machine that the server has.
    func deliver(_ notes: [Note]) { exchange.receive(notes) }

    /// Sends the newest note of each name to a server that has lost them.
    func sendAll() { exchange.resend(unacknowledgedFor: 0, all: true) }
  }
#endif
