import AppGroup
import ArgumentParser
import CommandLineSupport
import CredentialStore
import Platform

struct CredentialProtect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "protect",
    abstract: "Put the host's key under a passphrase, or into the open again.",
    discussion: """
      The new passphrase is asked for twice on a terminal, or read from --new-passphrase-fd. No \
      credential changes, and the old passphrase opens nothing any more.
      """)

  @Option(
    help: ArgumentHelp("Read the new passphrase from this file descriptor.", valueName: "fd"))
  var newPassphraseFd: Int32?
  @Flag(help: "Keep the key in a file that only the group's owner can read.")
  var noPassphrase = false
  @OptionGroup var store: StoreOptions
  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run() throws {
    let group = try store.prepared(global)
    let new = try newPassphrase()
    do {
      try CredentialStore.changePassphrase(in: group, from: store.givenPassphrase(), to: new)
    } catch CredentialError.locked(_, isWrongPassphrase: false) where isTerminal(0) {
      let old = try SecretInput.ask("Old passphrase: ")
      try CredentialStore.changePassphrase(in: group, from: old, to: newPassphrase())
    }
    global.terminal.say(
      noPassphrase
        ? "the host's key is no longer under a passphrase" : "the host's key is under a passphrase")
  }

  private func newPassphrase() throws -> SecretBytes? {
    if noPassphrase { return nil }
    if let newPassphraseFd {
      return try SecretInput.read(from: newPassphraseFd, called: "the new passphrase")
    }
    guard isTerminal(0) else {
      throw UsageError("choose --new-passphrase-fd or --no-passphrase")
    }
    return try SecretInput.ask("New passphrase: ")
  }
}
