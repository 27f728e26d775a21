import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

/// `framebus credential unlock [--timeout S]`.
struct CredentialUnlock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Keep a key unlocked for a limited time.",
    discussion: """
      The kernel keeps the key of --role, by default the host's, for this user. Every process of \
      the user can use the key without a passphrase until the timeout, `framebus credential lock` \
      or a reboot.
      """)

  @Option(help: ArgumentHelp("Time until the key is locked again, in seconds.", valueName: "s"))
  var timeout: UInt32 = 900
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func validate() throws {
    guard (1...CredentialStore.maximumUnlockedSeconds).contains(timeout) else {
      throw ValidationError(
        "--timeout \(timeout): use 1 to \(CredentialStore.maximumUnlockedSeconds) seconds")
    }
  }

  func run() throws {
    let group = try store.prepared(global)
    let role = try global.role(default: .host)
    // Extending the time needs the passphrase, so a key that is still unlocked is locked first.
    try CredentialStore.lock(role, in: group)
    try store.open(group, as: role).unlock(seconds: timeout)
    try global.report(
      "the key of the role \(role) is unlocked for \(timeout) s", asJSON: ["unlocked": "\(role)"])
  }
}

/// `framebus credential lock`.
struct CredentialLock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock a key that `unlock` unlocked.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let role = try global.role(default: .host)
    let wasUnlocked = try CredentialStore.lock(role, in: global.openGroup())
    try global.report(
      wasUnlocked
        ? "locked the key of the role \(role)"
        : "the key of the role \(role) was already locked",
      asJSON: ["locked": "\(role)"])
  }
}
