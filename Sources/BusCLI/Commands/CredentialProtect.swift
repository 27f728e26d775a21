import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialProtect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "protect",
    abstract: "Change how a role's key is protected.",
    discussion: """
      Without --role this changes the host's key. The new passphrase is read from the terminal or \
      from --new-passphrase-fd, unless another protection is chosen. Credentials do not change. A \
      copy of an earlier key file still opens what it opened before.

      For systemd, first write the key into a systemd credential, as in `framebus credential \
      protect --write-key | systemd-creds encrypt --name=framebus.host.key - host.cred`. Then run \
      `framebus credential protect --systemd` in a unit that loads it.
      """)

  @Option(
    help: ArgumentHelp("Read the new passphrase from this file descriptor.", valueName: "fd"))
  var newPassphraseFd: Int32?
  @Flag(help: "Store the key in a file that the role's holders can read.")
  var noPassphrase = false
  @Flag(help: "Hand the key over with `framebus credential run` only.")
  var handOver = false
  @Flag(help: "Load the key from a systemd credential of this process.")
  var systemd = false
  @Flag(help: "Only write the unprotected key to standard output.")
  var writeKey = false
  @OptionGroup var rolePassphrase: RolePassphrase
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    let chosen = [newPassphraseFd != nil, noPassphrase, handOver, systemd, writeKey]
    guard chosen.filter(\.self).count <= 1 else {
      throw ValidationError("choose one protection of the key")
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
      if isTerminal(1) {
        throw UsageError("--write-key writes a secret key; redirect it, not to a terminal")
      }
      let file = try opened.keyFile(of: role, passphrase: passphrase)
      return try file.withBytes { bytes throws(SystemError) in try writeFully(bytes, to: 1) }
    }
    let source = try source()
    try opened.changeKeySource(of: role, passphrase: passphrase, to: source)
    try global.report(
      "the key of the role \(role) is \(protection)", asJSON: ["protected": "\(role)"])
  }

  private var protection: String {
    if noPassphrase { return "no longer under a passphrase" }
    if handOver { return "now handed over by the host only" }
    return systemd ? "now in a systemd credential" : "under a passphrase"
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

/// The passphrase of the key of `--role`. The host's key, which opens the store, has its own.
struct RolePassphrase: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the --role key's passphrase from this descriptor.",
      valueName: "fd"))
  var rolePassphraseFd: Int32?

  func given(of role: Role) throws -> SecretBytes? {
    guard let rolePassphraseFd else { return nil }
    return try SecretBytes.read(
      from: rolePassphraseFd, called: "the passphrase of the role \(role)")
  }
}
