import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialProtect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "protect",
    abstract: "Keep a role's key under a passphrase, or in another place.",
    discussion: """
      The key is the host's, or that of --role. A new passphrase is asked for on a terminal, or \
      read from --new-passphrase-fd; or choose another place. No credential changes. What a copy \
      of an earlier key file opened, it opens still.

      For systemd, first write the key into a credential, as in `framebus credential protect \
      --write-key | systemd-creds encrypt --name=framebus.host.key - host.cred`; then run \
      `framebus credential protect --systemd` in a unit that loads it.
      """)

  @Option(
    help: ArgumentHelp("Read the new passphrase from this file descriptor.", valueName: "fd"))
  var newPassphraseFd: Int32?
  @Flag(help: "Keep the key in a file that the role's holders can read.")
  var noPassphrase = false
  @Flag(help: "Let nobody but the host open it: the role gets it by `framebus credential run`.")
  var handOver = false
  @Flag(help: "Leave it to a credential of systemd, which this process must have been given.")
  var systemd = false
  @Flag(help: "Change nothing; write the key to standard output, in the open.")
  var writeKey = false
  @OptionGroup var rolePassphrase: RolePassphrase
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    let chosen = [newPassphraseFd != nil, noPassphrase, handOver, systemd, writeKey]
    guard chosen.filter(\.self).count <= 1 else {
      throw ValidationError("choose one place for the key")
    }
    if !chosen.contains(true), !isTerminal(0) {
      throw ValidationError(
        "choose --new-passphrase-fd, --no-passphrase, --hand-over or --systemd")
    }
  }

  func run() throws {
    let role = try global.role(default: .host)
    let opened = try store.openedAsHost(global)
    let passphrase = try rolePassphrase.given(of: role)
    if writeKey {
      if isTerminal(1) { throw UsageError("--write-key writes secret bytes: not to a terminal") }
      let file = try opened.keyFile(of: role, passphrase: passphrase)
      return try file.withBytes { bytes throws(SystemError) in try writeFully(bytes, to: 1) }
    }
    let source = try source()
    try opened.changeKeySource(of: role, passphrase: passphrase, to: source)
    try global.tell("the key of the role \(role) is \(place)", asJSON: ["protected": "\(role)"])
  }

  private var place: String {
    if noPassphrase { return "no longer under a passphrase" }
    if handOver { return "handed over by the host alone" }
    return systemd ? "left to systemd" : "under a passphrase"
  }

  private func source() throws -> KeySource {
    if noPassphrase { return .file }
    if handOver { return .handOver }
    if systemd { return .systemd }
    if let newPassphraseFd {
      return .passphrase(
        try SecretBytes.read(from: newPassphraseFd, called: "the new passphrase"))
    }
    return .passphrase(try SecretInput.askTwice("New passphrase: "))
  }
}

/// The passphrase of another role's key than the host's, which opens the store.
struct RolePassphrase: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the passphrase of the key of --role, if it has one, from this file descriptor.",
      valueName: "fd"))
  var rolePassphraseFd: Int32?

  func given(of role: Role) throws -> SecretBytes? {
    guard let rolePassphraseFd else { return nil }
    return try SecretBytes.read(
      from: rolePassphraseFd, called: "the passphrase of the role \(role)")
  }
}
