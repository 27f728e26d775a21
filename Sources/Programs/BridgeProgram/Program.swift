import AppGroup
import ArgumentParser
import Bridge
import BridgeNATS
import CommandLineSupport
import CredentialStore
import NotifyCenter
import Platform

/// The program `framebus-bridge`: connects a group with the same group on other machines.
///
/// It connects the modules, and refuses to do their work: Bridge decides what crosses, BridgeNATS
/// carries it. It opens no credential: `framebus` passes the one secret that it needs.
@main struct BridgeProgram: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "framebus-bridge", abstract: "Connect the group with other machines.")

  @OptionGroup var bridge: BridgeOptions
  @OptionGroup var program: BridgeProgramOptions
  @OptionGroup var global: GlobalOptions

  static func main() { runProgram(BridgeProgram.self) }

  func run() throws {
    #if Media
      let signals = try SignalWatcher()
      try keepMemoryPrivate()
      let access = try access()
      let group = try global.openGroup(creatingLocal: true)
      if program.readLog {
        try writeLog(of: group, access, signals.stop)
      } else {
        try connect(group, access, signals.stop)
      }
      if signals.isInterrupted { throw Interrupted() }
    #else
      throw UsageError(
        "this build lacks the bridge: it was built without the package trait Media")
    #endif
  }
}

#if Media
  extension BridgeProgram {
    private func access() throws -> NATSAccess {
      let address = try bridge.address()
      var access = NATSAccess(host: address.host, port: address.port)
      access.isSecure = address.isSecure
      access.isPlainAllowed = bridge.plain
      access.certificates = bridge.caText
      guard let text = bridge.credential else { return access }
      access.credential = text
      guard let number = program.secretFd else {
        throw UsageError("--credential: start the bridge as `framebus bridge`, which opens it")
      }
      let name: CredentialName
      do { name = try CredentialName(text) } catch { throw UsageError("\(error)") }
      let secret = try SecretBytes.read(from: number, called: "the secret of \(name)")
      access.proof = try NATSAccess.Proof(secret, account: name.account)
      return access
    }

    private func connect(_ group: AppGroup, _ access: NATSAccess, _ stop: StopSignal) throws {
      let machine = try machine()
      let role = try global.role(in: group, preferring: .extension)
      let center = try NotifyCenter(group, role: role)
      ProductLog.begin(
        "framebus-bridge", in: group, as: .extension, global,
        options: ["server=\(access.url)", "machine=\(machine)"])
      let terminal = global.terminal
      let state = try BridgeState(in: group)
      let saved = connection(access, machine)
      let policy = group.bridgePolicy
      let running = try GroupBridge(group, center, as: machine, access) { event in
        Self.show(event, saved, state, terminal)
      }
      if policy.isEmpty {
        terminal.warn(
          "nothing crosses: the manifest has no table [bridge]; see `framebus help bridge`")
      }
      try state.set(saved)
      try running.run(stop)
      try state.set(saved)
      let figures = running.figures
      terminal.report(
        "notifications: \(figures.sent) sent, \(figures.delivered) delivered,"
          + " \(figures.repeated) repeated, \(figures.refused) refused")
    }

    private static func show(
      _ event: BridgeEvent, _ saved: BridgeState.Connection, _ state: BridgeState,
      _ terminal: Terminal
    ) {
      var saved = saved
      switch event {
      case .info(let text):
        terminal.detail(text)
        ProductLog.append(.info, text)
      case .warning(let text): terminal.warn(text)
      case .connected:
        saved.isConnected = true
        terminal.report("connected to \(saved.server) as \(saved.machine)")
        ProductLog.append(.notice, "connected to \(saved.server) as \(saved.machine)")
        try? state.set(saved)
      case .disconnected(let why):
        terminal.warn(
          "not connected to \(saved.server): \(why); the bridge tries again until it succeeds")
        try? state.set(saved)
      }
    }

    private func connection(
      _ access: NATSAccess, _ machine: MachineName
    ) -> BridgeState.Connection {
      var connection = BridgeState.Connection()
      connection.server = access.url
      connection.machine = machine.text
      connection.credential = bridge.credential ?? ""
      connection.certificates = bridge.caText ?? ""
      connection.isPlain = access.isPlainAllowed
      connection.processID = Int(currentProcessID())
      return connection
    }

    private func machine() throws(UsageError) -> MachineName {
      guard let text = bridge.machine else { return MachineName(host: hostName()) }
      guard let machine = MachineName(text) else {
        throw UsageError(
          "--machine \(text.plain): use at most 48 of a-z, 0-9, ., - and _, beginning with a letter"
            + " or digit")
      }
      return machine
    }

    /// Writes batches of lines for `framebus log`: the count of bytes, in little endian, and a
    /// batch. A count of 0 says that all present lines are written.
    private func writeLog(of group: AppGroup, _ access: NATSAccess, _ stop: StopSignal) throws {
      let terminal = global.terminal
      let reader = GroupLogReader(group, access) { terminal.warn($0) }
      try reader.run(sinceNs: program.since, follows: program.follow, stop) { batch in
        let bytes = batch?.bytes ?? []
        var count: [UInt8] = []
        count.append(littleEndian: UInt32(bytes.count))
        try writeFully(count + bytes, to: 1)
      }
    }
  }

  extension NATSAccess.Proof {
    /// Recognizes the kind of a secret by its text.
    init(_ secret: borrowing SecretBytes, account: String) throws(UsageError) {
      let text = secret.withBytes { bytes in
        // SAFETY: each byte of the span is read as a byte.
        String(
          decoding: (0..<bytes.byteCount).map {
            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
          }, as: UTF8.self)
      }
      if text.hasPrefix("-----BEGIN NATS USER JWT-----") {
        let lines = text.split(whereSeparator: \.isNewline).map(String.init)
        guard let jwt = Self.line(after: "BEGIN NATS USER JWT", in: lines),
          let seed = Self.line(after: "BEGIN USER NKEY SEED", in: lines)
        else { throw UsageError("the credential is not a .creds file with a JWT and a seed") }
        ProductLog.leaveOut(seed)
        self = .jwt(jwt, seed: seed)
        return
      }
      ProductLog.leaveOut(text)
      let isSeed = text.hasPrefix("SU") && text.utf8.count == 58
      if isSeed && account.hasPrefix("U") && account.utf8.count == 56 {
        self = .key(public: account, seed: text)
      } else {
        self = account == "token" ? .token(text) : .password(user: account, password: text)
      }
    }

    private static func line(after mark: String, in lines: [String]) -> String? {
      guard let index = lines.firstIndex(where: { $0.contains(mark) }), index + 1 < lines.count
      else { return nil }
      return lines[index + 1]
    }
  }
#endif
