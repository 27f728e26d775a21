import AppGroup
import Platform

/// Why a credential was not had or not kept. No case holds a byte of a secret.
public enum CredentialError: Error, Hashable, Sendable {
  /// Nothing is kept under that name.
  case notFound(CredentialName)
  /// Something is kept under that name already.
  case duplicate(CredentialName)
  /// The role's key needs a passphrase: none was given, or a wrong one.
  case locked(Role, isWrongPassphrase: Bool)
  /// The role's key is in no file of the store that this process could open.
  case keyElsewhere(Role, KeyPlace)
  /// The credential opens only with a key that was unlocked, and the role's lies in the open.
  case keyInTheOpen(Role, CredentialName)
  /// The role, or this user, has no right to it.
  case notEntitled(String)
  case expired(CredentialName, atSeconds: Int64)
  /// The session that it was handed over for has ended.
  case sessionEnded(CredentialName)
  /// A file is not what its writer wrote.
  case tampered(String)
  /// A file that was to be imported is none that a store exported, or is not whole.
  case unusableExport(String)
  /// The store, though genuine, is older than one that was seen before.
  case rolledBack(generation: UInt64, seen: UInt64)
  /// The kernel refused to keep secrets out of swap.
  case memoryNotLockable(byteCount: Int)
  /// Written by a newer FrameBus.
  case newerVersion(path: String)

  /// The group has no store yet.
  case noStore(GroupID)
  /// A name, text or secret outside its limits.
  case invalid(String)
  /// A file or directory that somebody else may have planted or may change.
  case untrusted(path: String, why: String)
  /// Another process has been writing for too long.
  case busy(path: String)
  /// A system call failed, as for want of space.
  case system(String)
}

/// Where a key is that is not in a file.
public enum KeyPlace: Hashable, Sendable { case handOver, systemd }

extension CredentialError: CustomStringConvertible {
  /// What happened, and one thing to do about it.
  public var description: String {
    switch self {
    case .notFound(let name):
      "there is no credential \(name); see `framebus credential list`"
    case .duplicate(let name):
      "there is a credential \(name) already; change it with `framebus credential set`, or import"
        + " with --replace"
    case .locked(let role, let isWrong):
      isWrong
        ? "the passphrase is not that of the role \(role); try again"
        : "the key of the role \(role) is locked; give its passphrase on a terminal or by"
          + " --passphrase-fd"
    case .keyElsewhere(let role, .handOver):
      "the key of the role \(role) is handed over by the host alone; have the host start this"
        + " program with `framebus credential run --role \(role)`"
    case .keyElsewhere(let role, .systemd):
      "the key of the role \(role) is a credential of systemd, which this process was not given;"
        + " run it in a unit with LoadCredentialEncrypted=\(SystemdKey.name(of: role))"
    case .keyInTheOpen(let role, let name):
      "the credential \(name) opens only with a key that was unlocked, but the key of the role"
        + " \(role) lies in the open; see `framebus credential protect --role \(role)`, or set the"
        + " credential with --accessibility always"
    case .notEntitled(let why): why
    case .expired(let name, let seconds):
      "the credential \(name) expired at \(utcText(seconds: seconds)); get a new one from its"
        + " issuer and `framebus credential set` it"
    case .sessionEnded(let name):
      "the session that the credential \(name) was handed over for has ended; have the host start"
        + " this program again"
    case .tampered(let what):
      "\(what): it was changed or damaged; restore the group's credentials from a backup, or set"
        + " the credential again"
    case .unusableExport(let what):
      "\(what) is not what `framebus credential export` wrote, or was damaged on its way; export"
        + " the credentials again, or name another file"
    case .rolledBack(let generation, let seen):
      "the credentials are those of generation \(generation), but generation \(seen) was seen"
        + " before; if you restored them from a backup, run `framebus credential accept-restore`"
    case .memoryNotLockable(let byteCount):
      "the kernel does not lock \(byteCount) bytes of memory for a secret; raise the limit with"
        + " `ulimit -l` or LimitMEMLOCK="
    case .newerVersion(let path): "\(path) was written by a newer FrameBus; update FrameBus"
    case .noStore(let id):
      "the group \(id) keeps no credentials; add one with `framebus credential add`"
    case .invalid(let why): why
    case .untrusted(let path, let why): "\(path) cannot be trusted: \(why)"
    case .busy(let path):
      "another process has been writing credentials for 10 seconds; find it with `fuser \(path)`"
    case .system(let why): why
    }
  }
}

extension CredentialError {
  init(_ error: SystemError) {
    if error.isAccessRefusal {
      self = .notEntitled(
        "\(userText(currentUserID())) may not do this: \(error); run it as the group's owner")
    } else {
      self = .system(error.explained)
    }
  }
}

/// Makes system calls.
func attempt<Value: ~Copyable>(
  _ calls: () throws(SystemError) -> Value
) throws(CredentialError) -> Value {
  do { return try calls() } catch { throw CredentialError(error) }
}
