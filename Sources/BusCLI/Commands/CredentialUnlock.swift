import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

/// `framebus credential unlock [--timeout S]`.
struct CredentialUnlock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Ask for no passphrase for some time.",
    discussion: """
      The kernel keeps the key of the role, the host unless --role says otherwise, for this user: \
      each process of the user can use it, as if the key were in the open, until the time has \
      passed, `framebus credential lock`, or a reboot.
      """)

  @Option(help: ArgumentHelp("For how long, in seconds.", valueName: "s"))
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
    // Who has it unlocked already shall not prolong that without the passphrase.
    try CredentialStore.lock(role, in: group)
    try store.open(group, as: role).unlock(seconds: timeout)
    try global.tell(
      "the key of the role \(role) is unlocked for \(timeout) s", asJSON: ["unlocked": "\(role)"])
  }
}

/// `framebus credential lock`.
struct CredentialLock: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Ask for the passphrase again.")

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let role = try global.role(default: .host)
    let wasUnlocked = try CredentialStore.lock(role, in: global.openGroup())
    try global.tell(
      wasUnlocked ? "locked the key of the role \(role)" : "the key of the role \(role) was locked",
      asJSON: ["locked": "\(role)"])
  }
}
