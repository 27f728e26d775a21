import AppGroup
import CredentialStore
import Platform
import WorkerSupport

/// A member of a group whose memory a test looks into: `SecretHolder seal|open ROOT GROUP`. It
/// says what it does, a line at a time, and lives until it is killed.
@main
struct Program {
  static func main() { runWorker(run) }

  private static func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { fatalError("usage: SecretHolder seal|open ROOT GROUP") }
    let group = try AppGroup.open(GroupID(arguments[3]), root: arguments[2])
    let name = try CredentialName(service: "whip.example.com", account: "studio")
    switch arguments[1] {
    case "seal": try seal(name, group)
    case "open": try open(name, group)
    default: fatalError("no verb \(arguments[1])")
    }
    sleep(until: .never)
  }

  /// Keeps what descriptor 3 says.
  private static func seal(_ name: CredentialName, _ group: AppGroup) throws {
    let secret = try input()
    try CredentialStore.open(in: group, as: .host)
      .set(name, secret, options: CredentialOptions(recipients: [.extension]))
    say("has sealed")
    // Until here it is held, and from here on not.
    _ = consume secret
    say("is done")
  }

  /// Holds the secret until descriptor 3 says something.
  private static func open(_ name: CredentialName, _ group: AppGroup) throws {
    let secret = try CredentialStore.open(in: group, as: .extension).get(name)
    say("holds \(secret.byteCount) bytes")
    _ = try input()
    _ = consume secret
    say("is done")
  }

  private static func input() throws(CredentialError) -> SecretBytes {
    try SecretBytes(capacity: 4096) { span throws(CredentialError) in
      do { return try readFully(into: &span, from: 3) } catch { throw .system("\(error)") }
    }
  }
}
