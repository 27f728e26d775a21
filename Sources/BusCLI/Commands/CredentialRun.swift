import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

/// `framebus credential run [--lease SERVICE/ACCOUNT]… -- PROGRAM…`.
struct CredentialRun: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Start a program and hand over a role's key to it.",
    discussion: """
      The key and the leases are passed in memory only, through the file descriptor whose number \
      is in \(HandOver.variable). One process can take them, once: the program itself, or the \
      first `framebus credential` that it starts. A lease opens like any credential until the \
      program exits, and is never stored in a file.
      """)

  @Option(
    help: ArgumentHelp(
      "Lend a credential that is not granted to the role.",
      valueName: "service/account"))
  var lease: [String] = []
  @Option(
    help: ArgumentHelp(
      "Lend a secret from this descriptor without storing it.",
      valueName: "fd:service/account"))
  var leaseFd: [String] = []
  @OptionGroup var rolePassphrase: RolePassphrase
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("Program and its arguments.", valueName: "program"))
  var command: [String] = []

  func run() throws {
    guard let program = command.first else {
      throw UsageError("name the program to start after --, as in `… run -- framebus-upload`")
    }
    let names = try lease.map(credentialName)
    let fresh = try leaseFd.map(descriptorAndName)
    let role = try global.role(default: .extension)
    // Before any thread starts, so that every thread blocks the signals.
    let signals = try SignalWatcher()
    // The host opens the store; `--role` names the receiver of the key.
    var host = global
    host.roleText = nil
    let opened = try store.openedOrMade(host)
    var leases = try names.map { try opened.lease($0) }
    for (number, name) in fresh {
      let secret = try SecretBytes.read(from: number, called: "the secret of \(name)")
      leases.append(try CredentialLease(name, secret))
    }
    let handOver = try opened.handOver(
      to: role, leases: leases, passphrase: rolePassphrase.given(of: role))
    leases = []
    ProductLog.begin(
      "framebus credential run", in: try host.openGroup(), as: .host, host,
      options: ["--role=\(role)"] + lease.map { "--lease=\($0)" } + [program])
    var options = LaunchOptions(program, Array(command.dropFirst()))
    options.input = .inherit
    options.inherited = [handOver.descriptorNumber]
    // Inherited descriptors begin with 3.
    options.environment = [
      HandOver.variable: "3", GroupVariables.group: "\(try host.groupID())",
    ]
    if let root = host.root { options.environment[GroupVariables.home] = root }
    defer { handOver.end() }
    try runToItsEnd(options, signals)
  }
}

/// Parses the value of `--lease-fd`.
private func descriptorAndName(_ text: String) throws -> (number: Int32, name: CredentialName) {
  let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
  guard parts.count == 2, let number = Int32(parts[0]), number >= 0 else {
    throw UsageError("--lease-fd \(text): write it like 5:SERVICE/ACCOUNT")
  }
  return (number, try credentialName(String(parts[1])))
}

private func credentialName(_ text: String) throws -> CredentialName {
  do { return try CredentialName(text) } catch { throw UsageError("\(error)") }
}
