import Platform

/// Why a semaphore could not be created, opened or removed.
public enum SemaphoreFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A semaphore of this name exists.
  case exists(SemaphoreName)
  /// No semaphore has this name.
  case unknown(SemaphoreName)
  /// The value is outside 0…maximum.
  case wrongValue(Int, maximum: Int)
  /// The kernel refused: the caller may not create, use or remove it.
  case notAllowed(path: String)
  /// The file cannot be a semaphore of this group.
  case untrusted(path: String, why: String)
  /// Created by another version of FrameBus.
  case wrongVersion(path: String, version: UInt32)
  /// The C library of this machine has a semaphore layout that FrameBus does not know.
  case unknownLayout
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .exists(let name):
      "the semaphore \(name) exists already; use it, or remove it with "
        + "`framebus semaphore remove \(name)`"
    case .unknown(let name):
      "there is no semaphore \(name); see `framebus semaphore list`, or create it with "
        + "`framebus semaphore create \(name)`"
    case .wrongValue(let value, let maximum):
      "the initial count \(value) is out of range; use 0 to \(maximum)"
    case .notAllowed(let path):
      "permission denied for \(path); hosts, captures and extensions create semaphores, users who "
        + "were members at that time use them, and their creator or the group's owner removes them "
        + "(`framebus group show` lists roles)"
    case .untrusted(let path, let why):
      "\(path) is not a semaphore of this group: \(why); if no program uses it, remove it with "
        + "`framebus semaphore remove`"
    case .wrongVersion(let path, let version):
      "\(path) has the semaphore format of another FrameBus (version \(version)); install the same "
        + "FrameBus for all members, or remove the semaphore and create it again"
    case .unknownLayout:
      "this C library's semaphores lack glibc's layout; run FrameBus with glibc 2.34 or newer"
    case .system(let error):
      error.reasonKind == .other
        ? "\(error); `framebus group doctor` checks the group" : error.explained
    }
  }
}

extension SemaphoreFileError: SystemFailure {
  package init(_ error: SystemError) {
    self =
      error.isAccessRefusal
      ? .notAllowed(path: error.path ?? error.operation) : .system(error)
  }
}

/// Why an open semaphore cannot be used, or not in this way.
public enum SemaphoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It was removed, perhaps with its group.
  case removed(SemaphoreName)
  /// A member of the group truncated or corrupted its file.
  case damaged(SemaphoreName, why: String)
  /// Its count is at the maximum.
  case full(SemaphoreName, maximum: Int)
  /// The number of processes that use a recoverable semaphore is at the maximum.
  case tooManyHolders(SemaphoreName, maximum: Int)
  /// A system call failed.
  case system(SystemError)

  public var description: String {
    switch self {
    case .removed(let name):
      "the semaphore \(name) was removed; create it again with `framebus semaphore create \(name)`"
    case .damaged(let name, let why):
      "the semaphore \(name) is damaged: \(why); a member of the group changed its file, so remove "
        + "it (`framebus semaphore remove \(name)`) and create it again"
    case .full(let name, let maximum):
      "the count of the semaphore \(name) is at its maximum, \(maximum): a program posts more "
        + "often than it waits; see `framebus semaphore show \(name)`"
    case .tooManyHolders(let name, let maximum):
      "\(maximum) processes use the semaphore \(name), the maximum; end one of them "
        + "(`framebus semaphore show \(name)` lists them)"
    case .system(let error): error.explained
    }
  }
}
