import AppGroup
import Platform

/// An error of the credential store. No case contains any part of a secret.
public enum CredentialError: Error, Hashable, Sendable {
  /// There is no credential of that name.
  case notFound(CredentialName)
  /// A credential of that name exists.
  case duplicate(CredentialName)
  /// The role's key needs a passphrase: it is missing or wrong.
  case locked(Role, isWrongPassphrase: Bool)
  /// The role's key is not in a file that this process can open.
  case keyElsewhere(Role, KeyLocation)
  /// The credential opens only with an unlocked key, but the role's key file is unprotected.
  case keyInTheOpen(Role, CredentialName)
  /// The role or this user has no permission.
  case notEntitled(String)
  /// The credential has expired.
  case expired(CredentialName, atSeconds: Int64)
  /// The session for which the lease was handed over has ended.
  case sessionEnded(CredentialName)
  /// A file was changed after it was written.
  case tampered(String)
  /// The file to import is not an export of a store, or is incomplete.
  case unusableExport(String)
  /// The store is genuine, but older than one that was seen before.
  case rolledBack(generation: UInt64, seen: UInt64)
  /// The kernel refused to keep secrets out of swap.
  case memoryNotLockable(byteCount: Int)
  /// Written by a newer FrameBus.
  case newerVersion(path: String)

  /// The group has no store yet.
  case noStore(GroupID)
  /// A name, text or secret outside its limits.
  case invalid(String)
  /// A file or directory that another user may have planted or can change.
  case untrusted(path: String, why: String)
  /// Another process held the lock until the deadline.
  case busy(path: String)
  /// A system call failed, for example because the disk is full.
  case system(String)
}

/// The location of a key that is not in a key file.
public enum KeyLocation: Hashable, Sendable {
  /// In the memory of a process that hands it over.
  case handOver
  /// In a credential that systemd passes to the service.
  case systemd
}

extension CredentialError: CustomStringConvertible {
  /// What happened, and one thing to do about it.
  public var description: String {
    switch self {
    case .notFound(let name):
      "there is no credential \(name); see `framebus credential list`"
    case .duplicate(let name):
      "the credential \(name) already exists; replace it with `framebus credential set`, or import"
        + " with --replace"
    case .locked(let role, let isWrong):
      isWrong
        ? "the passphrase of the role \(role) is wrong; try again"
        : "the key of the role \(role) is locked; give its passphrase on a terminal or with"
          + " --passphrase-fd"
    case .keyElsewhere(let role, .handOver):
      "the key of the role \(role) is handed over by the host only; start this program as the host"
        + " with `framebus credential run --role \(role)`"
    case .keyElsewhere(let role, .systemd):
      "the key of the role \(role) is in a systemd credential, which this process does not have;"
        + " run it in a unit with LoadCredentialEncrypted=\(SystemdKey.name(of: role))"
    case .keyInTheOpen(let role, let name):
      "the credential \(name) opens only with an unlocked key, but the key file of the role"
        + " \(role) is unprotected; run `framebus credential protect --role \(role)`, or set the"
        + " credential with --accessibility always"
    case .notEntitled(let why): why
    case .expired(let name, let seconds):
      "the credential \(name) expired at \(utcText(seconds: seconds)); get a new one from its"
        + " issuer and `framebus credential set` it"
    case .sessionEnded(let name):
      "the session of the credential \(name) has ended; start this program again as the host"
    case .tampered(let what):
      "\(what): it was changed or damaged; restore the group's credentials from a backup, or set"
        + " the credential again"
    case .unusableExport(let what):
      "\(what) is not what `framebus credential export` wrote, or was damaged; export the"
        + " credentials again, or name another file"
    case .rolledBack(let generation, let seen):
      "the credentials have generation \(generation), but generation \(seen) was seen before; if"
        + " you restored them from a backup, run `framebus credential accept-restore`"
    case .memoryNotLockable(let byteCount):
      "cannot lock \(byteCount) bytes of memory for a secret; raise the limit with `ulimit -l` or"
        + " LimitMEMLOCK="
    case .newerVersion(let path): "\(path) was written by a newer FrameBus; update FrameBus"
    case .noStore(let id):
      "the group \(id) has no credentials; add one with `framebus credential add`"
    case .invalid(let why): why
    case .untrusted(let path, let why): "\(path) cannot be trusted: \(why)"
    case .busy(let path):
      "another process has been writing credentials for 10 seconds; find it with `fuser \(path)`"
    case .system(let why): why
    }
  }
}

extension CredentialError: SystemFailure {
  package init(_ error: SystemError) {
    if error.isAccessRefusal {
      self = .notEntitled(
        "no permission for \(userText(currentUserID())): \(error); run it as the group's owner")
    } else {
      self = .system(error.explained)
    }
  }
}
