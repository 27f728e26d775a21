import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialRotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Reseal a credential with a new data key.",
    discussion: """
      The secret and its recipients do not change. A copy of the old file and its data key does \
      not open the new file. To change the secret itself, use update.
      """)

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try store.opened(global).rotate(name)
    try global.report("rotated the credential \(name)", asJSON: ["rotated": "\(name)"])
  }
}

struct CredentialIdentity: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Print this store's public identity.",
    discussion: """
      Other stores export credentials to this identity and verify this store's exports with it. \
      It is not secret. Send it over a channel on which nobody can change it.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let identity = try store.openedOrMade(global).identity()
    if global.json { return try global.terminal.printJSON(["identity": "\(identity)"]) }
    try global.terminal.print("\(identity)")
  }
}

struct CredentialExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export credentials to another group or machine.",
    discussion: """
      With --to only the store with that identity can open the file. Without it, the file opens \
      with a passphrase. Without --service all credentials are exported.
      """)

  @Argument(help: ArgumentHelp("File to write.", valueName: "file"))
  var path: String
  @Option(
    help: ArgumentHelp(
      "Receiver, from its `framebus credential identity`.",
      valueName: "identity"))
  var to: String?
  @Option(
    help: ArgumentHelp("Read the file's passphrase from this descriptor.", valueName: "fd"))
  var filePassphraseFd: Int32?
  @Option(help: ArgumentHelp("Export only this service's credentials.", valueName: "service"))
  var service: String?
  @Option(help: ArgumentHelp("Export only this account of the service.", valueName: "account"))
  var account: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    if account != nil, service == nil { throw ValidationError("--account needs --service") }
    if to != nil, filePassphraseFd != nil {
      throw ValidationError("choose --to or --file-passphrase-fd")
    }
  }

  func run() throws {
    let receiver = try to.map(parsedIdentity)
    let opened = try store.opened(global)
    let names = try opened.list().map(\.name).filter {
      $0.service == service ?? $0.service && $0.account == account ?? $0.account
    }
    let bytes =
      if let receiver { try opened.export(names, for: receiver) } else {
        try opened.export(names, under: try filePassphrase())
      }
    let output = OutputFile(path)
    try Directory(path: output.directory).replaceFile(output.name, with: bytes, mode: 0o600)
    try global.report(
      "exported \(counted(names.count, "credential")) to \(path)", asJSON: ["exported": names.count]
    )
  }

  private func filePassphrase() throws -> SecretBytes {
    if let filePassphraseFd {
      return try SecretBytes.read(from: filePassphraseFd, called: "the file's passphrase")
    }
    guard isTerminal(0) else { throw UsageError("choose --to or --file-passphrase-fd") }
    return try SecretInput.askTwice("Passphrase of the file: ")
  }
}

struct CredentialImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import all credentials of a file, or none.",
    discussion: """
      Anybody can create such a file for this store. With --from, a file that another store \
      exported is refused.
      """)

  @Argument(help: ArgumentHelp("File to read.", valueName: "file"))
  var path: String
  @Option(
    help: ArgumentHelp("Accept only exports of this identity.", valueName: "identity"))
  var from: String?
  @Flag(help: "Replace existing credentials instead of failing.")
  var replace = false
  @Option(
    help: ArgumentHelp("Read the file's passphrase from this descriptor.", valueName: "fd"))
  var filePassphraseFd: Int32?
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let exporter = try from.map(parsedIdentity)
    let opened = try store.openedOrMade(global)
    let output = OutputFile(path)
    let file = try Directory(path: output.directory).readFile(
      output.name, limit: CredentialStore.maximumExportBytes)
    let names = try opened.importing(
      file.bytes, passphrase: filePassphrase(of: file.bytes), from: exporter,
      isReplacing: replace)
    try global.report(
      "imported \(counted(names.count, "credential")) from \(path)",
      asJSON: ["imported": names.count])
  }

  private func filePassphrase(of file: [UInt8]) throws -> SecretBytes? {
    if let filePassphraseFd {
      return try SecretBytes.read(from: filePassphraseFd, called: "the file's passphrase")
    }
    guard isTerminal(0), CredentialStore.isUnderPassphrase(file) else { return nil }
    return try SecretInput.ask("Passphrase of the file: ")
  }
}

private func parsedIdentity(_ text: String) throws(UsageError) -> StoreIdentity {
  do { return try StoreIdentity(text) } catch { throw UsageError("\(error)") }
}
