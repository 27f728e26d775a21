import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import FoundationEssentials
import Platform

/// The attributes of a new or replaced credential.
struct CredentialDetails: ParsableArguments {
  @Option(help: ArgumentHelp("A role besides the host that can open it.", valueName: "role"))
  var recipient: [String] = []
  @Option(help: ArgumentHelp("A display name.", valueName: "text"))
  var label = ""
  @Option(help: ArgumentHelp("A comment; it is not secret.", valueName: "text"))
  var comment = ""
  @Option(
    help: ArgumentHelp("Expiry time, such as 2027-01-31T00:00:00Z.", valueName: "iso8601"))
  var expires: String?
  @Option(
    help: ArgumentHelp(
      "always, or whenUnlocked, which requires a protected key.",
      valueName: "when"))
  var accessibility = "always"

  func options() throws(UsageError) -> CredentialOptions {
    var options = CredentialOptions(label: label, comment: comment)
    switch accessibility {
    case "always": break
    case "whenUnlocked": options.accessibility = .whenUnlocked
    case "session":
      throw UsageError(
        "the store does not keep session credentials; lend one with `framebus credential run"
          + " --lease-fd`")
    default: throw UsageError("--accessibility \(accessibility): use always or whenUnlocked")
    }
    for text in recipient { options.recipients.append(try parsedRole(text)) }
    guard let expires else { return options }
    guard let date = try? Date(expires, strategy: .iso8601) else {
      throw UsageError("--expires \(expires): write it like 2027-01-31T00:00:00Z")
    }
    options.expiresAtSeconds = Int64(date.timeIntervalSince1970)
    return options
  }
}

struct CredentialAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Create a credential.",
    discussion: """
      The first credential creates the group's store. With --passphrase-fd the host's key is then \
      encrypted with that passphrase. Without it the key is stored in a file that only the group's \
      owner can read.
      """)

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var details: CredentialDetails
  @OptionGroup var input: SecretInput
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let (name, options) = (try choice.name(), try details.options())
    let opened = try store.openedOrMade(global)
    try opened.add(name, try input.secret(of: name), options: options)
    try global.report("added the credential \(name)", asJSON: ["added": "\(name)"])
  }
}

struct CredentialSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Create or replace a credential.")

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var details: CredentialDetails
  @OptionGroup var input: SecretInput
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let (name, options) = (try choice.name(), try details.options())
    let opened = try store.openedOrMade(global)
    try opened.set(name, try input.secret(of: name), options: options)
    try global.report("set the credential \(name)", asJSON: ["set": "\(name)"])
  }
}

struct CredentialUpdate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Replace a credential's secret and keep its attributes.")

  @OptionGroup var choice: CredentialChoice
  @OptionGroup var input: SecretInput
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let name = try choice.name()
    let opened = try store.opened(global)
    try opened.update(name, try input.secret(of: name))
    try global.report("updated the credential \(name)", asJSON: ["updated": "\(name)"])
  }
}

/// Options that select the source of a secret.
struct SecretInput: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the secret from this descriptor, not standard input.", valueName: "fd"))
  var secretFd: Int32?
  @Flag(help: "Keep a final newline in the secret.")
  var exact = false

  func secret(of name: CredentialName) throws -> SecretBytes {
    if secretFd == nil, isTerminal(0) { return try Self.ask("Secret of \(name): ") }
    return try SecretBytes.read(from: secretFd ?? 0, called: "the secret", isExact: exact)
  }

  /// Asks twice, because a mistyped new passphrase could not be recovered.
  static func askTwice(_ question: String) throws -> SecretBytes {
    let first = try ask(question)
    let second = try ask("Again: ")
    guard first == second else {
      throw CredentialError.invalid("the two passphrases differ; try again")
    }
    return first
  }

  /// Asks on the terminal, without echo.
  static func ask(_ question: String) throws -> SecretBytes {
    guard let terminal = SilentTerminal(0) else {
      throw CredentialError.invalid("standard input is not a terminal")
    }
    try writeFully(Array(question.utf8), to: 2)
    var isInterrupted = false
    let secret = try SecretBytes(capacity: 4096) { span throws(CredentialError) in
      let typed: SilentTerminal.Typed
      do { typed = try terminal.readLine(into: &span) } catch { throw .system("\(error)") }
      switch typed {
      case .line(let byteCount): return byteCount
      case .tooLong: throw .invalid("a typed secret has at most 4095 bytes")
      case .interrupted:
        isInterrupted = true
        return 0
      }
    }
    // The terminal did not echo the newline either.
    try writeFully([UInt8(ascii: "\n")], to: 2)
    if isInterrupted { throw Interrupted() }
    if secret.byteCount == 0 { throw CredentialError.invalid("nothing was typed") }
    return secret
  }
}
