import Platform

/// Why a semaphore could not be made, found or removed.
public enum SemaphoreFileError: Error, Hashable, Sendable, CustomStringConvertible {
  case exists(SemaphoreName)
  case unknown(SemaphoreName)
  case wrongValue(Int, maximum: Int)
  /// The kernel refused: the caller may not make, use or remove it.
  case notAllowed(path: String)
  /// What lies there cannot be a semaphore of this group.
  case untrusted(path: String, why: String)
  /// Made by another version of FrameBus.
  case wrongVersion(path: String, version: UInt32)
  /// This machine's C library keeps semaphores in another way than this package knows.
  case unknownLayout
  case system(SystemError)

  public var description: String {
    switch self {
    case .exists(let name):
      "there is a semaphore \(name) already; use it as it is, or remove it with "
        + "`framebus semaphore remove \(name)`"
    case .unknown(let name):
      "there is no semaphore \(name); see `framebus semaphore list`, or make it with "
        + "`framebus semaphore create \(name)`"
    case .wrongValue(let value, let maximum):
      "\(value) is no count to begin with; use 0 to \(maximum)"
    case .notAllowed(let path):
      "no permission for \(path); semaphores are made by hosts, captures and extensions, used by "
        + "those who were members when they were made, and removed by who made them or the group's "
        + "owner (`framebus group show` lists roles)"
    case .untrusted(let path, let why):
      "\(path) is no semaphore to be trusted: \(why); if nobody uses it, remove it with "
        + "`framebus semaphore remove`"
    case .wrongVersion(let path, let version):
      "\(path) was made by a FrameBus that keeps semaphores in another way (version \(version)); "
        + "install the same FrameBus everywhere, or remove it and make it again"
    case .unknownLayout:
      "this C library's semaphores are not laid out like glibc's; run FrameBus with glibc 2.34 or "
        + "newer"
    case .system(let error):
      error.reasonKind == .other
        ? "\(error); `framebus group doctor` checks the group" : error.explained
    }
  }
}

/// Why a semaphore cannot be used any more, or not in this way.
public enum SemaphoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It was removed, perhaps with its group.
  case removed(SemaphoreName)
  /// A member of the group truncated its file or wrote nonsense into it.
  case damaged(SemaphoreName, why: String)
  /// Its count is as high as it can get.
  case full(SemaphoreName, maximum: Int)
  /// As many processes use a recoverable semaphore as can.
  case tooManyHolders(SemaphoreName, maximum: Int)
  case system(SystemError)

  public var description: String {
    switch self {
    case .removed(let name):
      "the semaphore \(name) was removed; make it again with `framebus semaphore create \(name)`"
    case .damaged(let name, let why):
      "the semaphore \(name) is damaged: \(why); a member of the group did that, so remove it "
        + "(`framebus semaphore remove \(name)`) and make it again"
    case .full(let name, let maximum):
      "the semaphore \(name) has its highest count, \(maximum): somebody posts more than is taken; "
        + "see `framebus semaphore show \(name)`"
    case .tooManyHolders(let name, let maximum):
      "\(maximum) processes use the semaphore \(name), as many as can; end one of them "
        + "(`framebus semaphore show \(name)`)"
    case .system(let error): error.explained
    }
  }
}
