import AppGroup
import Platform

/// An error of reading or changing settings.
public enum DefaultsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text cannot name a suite.
  case invalidName(String)
  /// The text cannot be a key.
  case invalidKey(String)
  /// A value is too large, nested too deeply, or has an invalid key inside.
  case invalidValue(key: String)
  /// The change would exceed the limits of a suite.
  case suiteTooLarge(byteCount: Int, keyCount: Int)
  /// The key names a secret, which belongs in the credential store: `sealWith` is the command.
  case secret(key: String, sealWith: String)
  /// The caller may not write, or not even read.
  case notAllowed(path: String)
  /// Another process held the suite's lock until the deadline. The PID is nil if it is unknown.
  case busy(path: String, holderPID: Int32?)
  /// The file could have been written by others than the group's members.
  case untrusted(path: String, why: String)
  /// The file is malformed.
  case damaged(path: String, why: String)
  /// A newer FrameBus wrote the file.
  case newerVersion(path: String, version: UInt32)
  /// The group cannot be used.
  case group(GroupError)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .invalidName(let text):
      "“\(text.prefix(200))” is not a valid suite name; use 1 to \(SuiteName.maximumBytes) of A–Z,"
        + " a–z, 0–9, “.”, “-” and “_”, beginning with a letter or digit"
    case .invalidKey(let key):
      "the key of \(key.utf8.count) bytes is not valid; use 1 to \(SuiteFormat.maximumKeyBytes)"
        + " bytes without control or format characters"
    case .invalidValue(let key):
      "the value of \(key) exceeds the limits: \(SuiteFormat.maximumRecordBytes >> 20) MiB,"
        + " \(SuiteFormat.maximumDepth) levels, keys of 1 to \(SuiteFormat.maximumKeyBytes) bytes"
        + " without control or format characters; store large data in files of the container"
    case .suiteTooLarge(let byteCount, let keyCount):
      "the suite would have \(byteCount) bytes and \(keyCount) keys; the limits are"
        + " \(SuiteFormat.maximumSnapshotBytes) bytes and \(SuiteFormat.maximumKeys) keys; remove"
        + " some keys"
    case .secret(let key, let command):
      "\(key) looks like a secret, and every member of the group can read a suite; seal it with"
        + " `\(command)`"
    case .notAllowed(let path):
      "no permission for \(path); members may read settings, and the roles host, capture and"
        + " extension may write them (`framebus group show` lists roles)"
    case .busy(let path, let holderPID):
      "\(holderPID.map { "process \($0)" } ?? "another process") has held the lock of \(path) until"
        + " the deadline; check that process, and continue or end it"
        + (holderPID.map { " (kill -CONT \($0))" } ?? "")
    case .untrusted(let path, let why):
      "\(path) is not a trusted suite: \(why); a member of the group created it; remove it"
    case .damaged(let path, let why):
      "\(path) cannot be read: \(why); restore it from a backup, or remove it with `framebus"
        + " defaults remove SUITE`"
    case .newerVersion(let path, let version):
      "\(path) was written by a newer FrameBus (format version \(version)); install the same"
        + " FrameBus everywhere"
    case .group(let error): "\(error)"
    case .system(let error):
      switch error.reasonKind {
      case .noSpace where !error.followsChange:
        "\(error); nothing was changed; free some space and try again"
      case .other: "\(error); `framebus group doctor` checks the group"
      default: error.explained
      }
    }
  }

  init(_ refusal: SuiteImage.Refusal, path: String) {
    self =
      switch refusal {
      case .newerVersion(let version): .newerVersion(path: path, version: version)
      case .damaged(let why): .damaged(path: path, why: why)
      }
  }
}

extension DefaultsError: SystemFailure {
  package init(_ error: SystemError) {
    self =
      switch error.reasonKind {
      case .notPermitted: .notAllowed(path: error.path ?? error.operation)
      default: .system(error)
      }
  }
}
