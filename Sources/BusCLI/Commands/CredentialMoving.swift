import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialRotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Seal a credential anew, under another data key.",
    discussion: """
      The secret and its recipients stay. Whoever copied an old file together with what opened it \
      cannot open the new one. To change the secret itself, use update.
      """)

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try store.opened(global).rotate(name)
    try global.tell("rotated the credential \(name)", asJSON: ["rotated": "\(name)"])
  }
}

struct CredentialIdentity: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Print what others export credentials for, and know this store's exports by.",
    discussion: "It is no secret. Take care that it reaches the other side unchanged.")

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
    abstract: "Seal credentials into a file, for another group or machine.",
    discussion: """
      With --to only the store of that identity can open the file; else whoever knows its \
      passphrase. Without --service all credentials are exported.
      """)

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"))
  var path: String
  @Option(
    help: ArgumentHelp(
      "For the store of this identity: what `framebus credential identity` prints there.",
      valueName: "identity"))
  var to: String?
  @Option(
    help: ArgumentHelp("Read the file's passphrase from this descriptor.", valueName: "fd"))
  var filePassphraseFd: Int32?
  @Option(help: ArgumentHelp("Only what is for this service.", valueName: "service"))
  var service: String?
  @Option(help: ArgumentHelp("Of that only what is as this account.", valueName: "account"))
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
    let place = OutputFile(path)
    try Directory(path: place.directory).replaceFile(place.name, with: bytes, mode: 0o600)
    try global.tell(
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
    abstract: "Keep what another store exported: all of it, or nothing.",
    discussion: """
      Anybody can make such a file for this store; with --from one of any other store is refused.
      """)

  @Argument(help: ArgumentHelp("The file to read.", valueName: "file"))
  var path: String
  @Option(
    help: ArgumentHelp("Only what the store of this identity exported.", valueName: "identity"))
  var from: String?
  @Flag(help: "Replace credentials of the same names; else one such name is an error.")
  var replace = false
  @Option(
    help: ArgumentHelp("Read the file's passphrase from this descriptor.", valueName: "fd"))
  var filePassphraseFd: Int32?
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let exporter = try from.map(parsedIdentity)
    let opened = try store.openedOrMade(global)
    let place = OutputFile(path)
    let file = try Directory(path: place.directory).readFile(
      place.name, limit: CredentialStore.maximumExportBytes)
    let names = try opened.importing(
      file.bytes, passphrase: filePassphrase(of: file.bytes), from: exporter,
      isReplacing: replace)
    try global.tell(
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
