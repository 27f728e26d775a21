import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

/// `framebus credential …`: secrets that the host seals and that granted roles open.
struct Credential: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Store secrets that the host seals and granted roles open.",
    discussion: """
      A secret is read from the terminal without echo, from standard input or from a file \
      descriptor. It is never read from an argument or the environment, because other processes \
      can see those.
      """,
    subcommands: [
      CredentialAdd.self, CredentialSet.self, CredentialUpdate.self, CredentialGet.self,
      CredentialList.self, CredentialShow.self, CredentialGrant.self, CredentialRevoke.self,
      CredentialRemove.self, CredentialRotate.self, CredentialIdentity.self,
      CredentialExport.self, CredentialImport.self, CredentialAudit.self, CredentialProtect.self,
      CredentialUnlock.self, CredentialLock.self, CredentialRun.self,
      CredentialAcceptRestore.self,
    ])
}

/// The credential that most verbs take.
struct CredentialChoice: ParsableArguments {
  @Argument(help: ArgumentHelp("Service name, such as whip.example.com.", valueName: "service"))
  var service: String
  @Argument(help: ArgumentHelp("Account name, such as studio.", valueName: "account"))
  var account: String

  func name() throws(UsageError) -> CredentialName {
    do { return try CredentialName(service: service, account: account) } catch {
      throw UsageError("\(error)")
    }
  }
}

/// Options that open the store.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the key's passphrase from this file descriptor.", valueName: "fd"))
  var passphraseFd: Int32?

  /// Opens the store in the role of `--role`. The default is the role whose key `framebus
  /// credential run` handed over, then host, then another role that the user holds.
  func opened(_ global: GlobalOptions) throws -> CredentialStore {
    let group = try prepared(global)
    if let handed = try HandedOver.takeInherited() {
      guard try global.role(default: handed.role) == handed.role else {
        throw UsageError("the key that was handed over belongs to the role \(handed.role)")
      }
      return try CredentialStore.open(in: group, handed: handed)
    }
    return try open(group, as: global.role(in: group))
  }

  /// Opens the store as the host and ignores `--role`.
  func openedAsHost(_ global: GlobalOptions) throws -> CredentialStore {
    try open(prepared(global), as: .host)
  }

  /// Opens the store as the host. Creates the store if it does not exist.
  func openedOrMade(_ global: GlobalOptions) throws -> CredentialStore {
    let group = try prepared(global, creatingLocal: true)
    let role = try global.role(default: .host)
    guard role == .host else { throw UsageError("only the host can change credentials") }
    if try CredentialStore.exists(in: group) { return try open(group, as: role) }
    return try CredentialStore.create(in: group, passphrase: givenPassphrase())
  }

  /// Closes this process's memory to other processes, then opens the group.
  func prepared(_ global: GlobalOptions, creatingLocal: Bool = false) throws -> AppGroup {
    try keepMemoryPrivate()
    return try global.openGroup(creatingLocal: creatingLocal)
  }

  func givenPassphrase() throws -> SecretBytes? {
    guard let passphraseFd else { return nil }
    return try SecretBytes.read(from: passphraseFd, called: "the passphrase")
  }

  /// Opens the store with the passphrase of `--passphrase-fd`. Without it, asks on the terminal if
  /// the key needs a passphrase.
  func open(_ group: AppGroup, as role: Role) throws -> CredentialStore {
    do {
      return try CredentialStore.open(in: group, as: role, passphrase: givenPassphrase())
    } catch CredentialError.locked(_, isWrongPassphrase: false) where isTerminal(0) {
      let typed = try SecretInput.ask("Passphrase of the role \(role): ")
      return try CredentialStore.open(in: group, as: role, passphrase: typed)
    }
  }
}

struct CredentialGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Write a secret to standard output, without a newline.")

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws { try global.refuseJSON("a secret is written unchanged") }

  func run() throws {
    let name = try choice.name()
    let secret = try store.opened(global).get(name)
    try secret.withBytes { bytes throws(SystemError) in try writeData(bytes, to: 1) }
  }
}

struct CredentialGrant: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Let a role open a credential.")

  @OptionGroup var choice: CredentialChoice
  @Argument(help: ArgumentHelp("Role, such as extension.", valueName: "role"))
  var recipient: String
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let role = try parsedRole(recipient)
    try store.opened(global).grant(role, name)
    try global.report(
      "granted \(name) to the role \(role)", asJSON: ["granted": "\(name)", "role": "\(role)"])
  }
}

struct CredentialRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Reseal a credential so that a role cannot open it.")

  @OptionGroup var choice: CredentialChoice
  @Argument(help: ArgumentHelp("Role, such as extension.", valueName: "role"))
  var recipient: String
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let role = try parsedRole(recipient)
    try store.opened(global).revoke(role, name)
    try global.report(
      "revoked \(name) from the role \(role)", asJSON: ["revoked": "\(name)", "role": "\(role)"])
    global.terminal.warn(
      "the role \(role) may have read the secret; change it at \(name.service), then run"
        + " `framebus credential update`")
  }
}

struct CredentialRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a credential.")

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    try store.opened(global).remove(name)
    try global.report("removed the credential \(name)", asJSON: ["removed": "\(name)"])
  }
}

struct CredentialAcceptRestore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-restore",
    abstract: "Accept credentials that are older than the last ones seen.",
    discussion: "Use it only after you restored the group from a backup.")

  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let group = try store.prepared(global)
    try CredentialStore.acceptRestore(in: group, passphrase: store.givenPassphrase())
    try global.report(
      "accepted the present credentials of \(group.id)", asJSON: ["accepted": "\(group.id)"])
  }
}
